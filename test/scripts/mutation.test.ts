/** The parts of `npm run test:mutation` that decide which mutants there are. */
import t from 'tap'
import { apply } from '../../scripts/mutation/edit.ts'
import { matches } from '../../scripts/mutation/equivalents.ts'
import { closeness, type Judgement, type Verdict } from '../../scripts/mutation/judge.ts'
import { findMutants, type Mutant } from '../../scripts/mutation/mutant.ts'
import { readOptions, selects } from '../../scripts/mutation/options.ts'
import { findBlockAround, findBlocks, instrument } from '../../scripts/mutation/probes.ts'
import { computeScore, report } from '../../scripts/mutation/report.ts'
import { sample } from '../../scripts/mutation/sample.ts'

const FILE = 'src/http/example.ts'

const CASES: [code: string, mutated: string[]][] = [
  ['if (a) b = c', ['if (true) b = c', 'if (false) b = c']],
  ['while (a) b = c', ['while (false) b = c']],
  ['a = b < c', ['a = b <= c', 'a = b >= c']],
  ['a = b && c', ['a = b || c']],
  ['a = b ?? c', ['a = b', 'a = c']],
  ['a = b + c', ['a = b - c']],
  ["a = b + 'c'", ["a = b + ''"]],
  ['a = !b', ['a = b']],
  ['a++', ['a--']],
  ['a = b?.c', ['a = b.c']],
  ['await a(b)', [';']],
  ['{ a = b; c = d }', ['{}']],
  ['function a() { return b }', ['function a() { return undefined }']],
  ['a = () => b', ['a = () => undefined']],
  ['a = true', ['a = false']],
  ['a = 7', ['a = 8']],
  ['a = 30_000', ['a = 0']],
  ['a = 7n', ['a = (7n + 1n)']],
  ["a = ''", ["a = 'mutated'"]],
  [`a = \`b\${c}\``, ['a = ``']],
  ['a = { b }', ['a = {}']],
  ['[a, b] = [b, a]', ['[a, b] = []']],
  ['a = /^b$/', ['a = /b$/', 'a = /^b/']],
  ['a = b.some(c)', ['a = b.every(c)']],
  ['a = b.trim()', ['a = b']],
]

for (const [code, mutated] of CASES) {
  t.test(`generates the mutants of ${code}`, async (t) => {
    const results = findMutants(FILE, code).map((mutant) => apply(code, mutant))
    t.same(results.toSorted(), mutated.toSorted())
  })
}

t.test('types and imports have no mutants', async (t) => {
  const code = `import a from 'b'
export * from 'c'
interface D { e: 'f' }
type G = 1 | true
declare const h: 2
const i = j as 'k'
await import('l')
`
  t.same(
    findMutants(FILE, code).filter(({ original }) => !original.includes('import(')),
    [],
  )
})

const CODE = 'const a = 1\nfunction b(c) {\n  if (c) return 2\n}\nconst d = (e) => e + 3\n'
const MUTANTS = findMutants(FILE, CODE)

t.test('a mutant has a position, by which it can be selected', async (t) => {
  const two = MUTANTS.find(({ replacement }) => replacement === '3') as Mutant
  t.match(two, { file: FILE, line: 3, column: 17, lineText: '  if (c) return 2', original: '2' })
  for (const pattern of [FILE, 'src/**/*.ts', `${FILE}:3`, `${FILE}:3:17`]) {
    t.ok(selects(pattern, two), pattern)
  }
  for (const pattern of ['src/*.ts', `${FILE}:2`, `${FILE}:3:16`]) t.notOk(selects(pattern, two))
})

t.test('a seed always draws the same mutants, from every folder', async (t) => {
  const many = ['a/x.ts', 'b/x.ts', 'c/x.ts'].flatMap((file, index) =>
    Array.from({ length: [200, 2, 100][index] ?? 0 }, (_, place) => ({ file, place })),
  )
  const drawn = sample(many, 30, 1)
  t.same(sample(many, 30, 1), drawn)
  t.notSame(sample(many, 30, 2), drawn)
  t.equal(new Set(drawn).size, 30)
  const from = (folder: string) => drawn.filter(({ file }) => file.startsWith(folder)).length
  t.same([from('a'), from('b'), from('c')], [19, 1, 10])
  t.equal(sample(many, 1000, 1).length, many.length)
  t.equal(sample(many, 1, 1).length, 1)
})

t.test('a probe in each block records which mutants were reached', async (t) => {
  const starts = findBlocks(CODE).map(({ start }) => start)
  t.same(starts, [0, CODE.indexOf('{'), CODE.indexOf('e + 3')])
  const probed = instrument(CODE, FILE, '/probe.mjs')
  t.equal(probed.split('\n').length, CODE.split('\n').length, 'line numbers stay the same')
  for (const start of starts) t.match(probed, `__reach("${FILE} ${start}")`)
  const three = MUTANTS.find(({ original }) => original === '3') as Mutant
  t.equal(findBlockAround(findBlocks(CODE), three).start, starts[2])
})

t.test('the tests of a file run before those of its folder, and those before others', async (t) => {
  const tests = ['test/http/example.test.ts', 'test/http/other.test.ts', 'test/client/x.test.ts']
  const [same, folder, far] = tests.map((test) => closeness(test, FILE))
  t.ok(Number(same) > Number(folder) && Number(folder) > Number(far))
})

t.test('an equivalent mutant is recognized by its code, not by its position', async (t) => {
  const [one] = MUTANTS as [Mutant]
  const entry = { file: FILE, line: 'const a = 1', original: '1', replacement: '2', reason: '' }
  t.ok(matches(entry, { ...one, line: 99 }))
  t.notOk(matches({ ...entry, line: 'const b = 1' }, one))
})

t.test('the report gives the score and the command that reproduces a survivor', async (t) => {
  const verdicts: Verdict[] = ['killed', 'timeout', 'survived', 'equivalent', 'not covered']
  const judgements = verdicts.map((verdict, index): Judgement => {
    const mutant = MUTANTS[index] as Mutant
    return { mutant, verdict, tests: 1, durationMs: 0, reason: 'the reason' }
  })
  t.equal(computeScore(judgements), 0.5)
  const { line, column } = MUTANTS[2] as Mutant
  const stale = [{ file: FILE, line: 'gone', original: 'a', replacement: 'b', reason: '' }]
  const failing = [{ test: 'test/failing.test.ts', output: 'not ok' }]
  const text = report({ seed: 7, judgements, failing, stale })
  t.match(text, /^# Mutation score: 50\.0 %\n\nSeed 7, 5 mutants\./)
  t.match(text, `npm run test:mutation -- --mutate ${FILE}:${line}:${column}`)
  for (const part of ['the reason', 'gone', 'test/failing.test.ts']) t.match(text, part)
})

t.test('an invalid option is named in the error', async (t) => {
  t.match(readOptions(['--seed', '3']), { sample: 150, seed: 3, jobs: 2, mutate: [] })
  t.throws(() => readOptions(['--sample', '0']), /invalid --sample "0"/)
  t.throws(() => readOptions(['--smaple', '9']), /smaple/)
})
