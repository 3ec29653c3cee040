import t from 'tap'
import { findSimilar } from '../src/similar.ts'

const COMMANDS = ['serve', 'token', 'import', 'export', 'backup', 'check']

for (const [word, expected] of [
  ['serv', 'serve'],
  ['sreve', 'serve'],
  ['IMPORT', 'import'],
  [' imprt', 'import'],
  ['exprot', 'export'],
  ['chekc', 'check'],
  ['frobnicate', undefined],
  ['', undefined],
  [`serve${' '.repeat(40)}`, undefined],
] as const) {
  t.test(`${JSON.stringify(word)} is similar to ${expected ?? 'nothing'}`, async (t) => {
    t.equal(findSimilar(word, COMMANDS), expected)
  })
}
