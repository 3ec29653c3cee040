import t from 'tap'
import { CASES, withSheet } from './hostile-workbooks.ts'
import { readSheet } from './workbooks.ts'

for (const [what, create, message] of CASES) {
  t.test(`${what} is refused`, async (t) => {
    const file = create()
    const start = performance.now()
    const { problem } = await readSheet(file)
    t.match(problem, message)
    t.notMatch(problem, /Type|undefined|saxen/)
    t.comment(`${file.size} bytes, ${Math.round(performance.now() - start)} ms`)
  })
}

t.test('a cell that refers to a missing string is named', async (t) => {
  for (const index of ['7', '-1', 'x', '1e9', '']) {
    const { records } = await readSheet(withSheet(`<row><c t="s"><v>${index}</v></c></row>`))
    t.match(records, [{ number: 1, problem: 'cell A1 refers to a missing string' }])
  }
})
