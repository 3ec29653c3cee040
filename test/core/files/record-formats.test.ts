import assert from 'node:assert/strict'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { formulaFreeLine } from '../../../core/files/record-formats.ts'
import { runs } from '../../helpers/plants/runs.ts'

/** Names and their escaped forms. */
const ESCAPED = [
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t'=1"],
  ['\r=1', "'\r'=1"],
  ['\n=1', "'\n'=1"],
  ['\ttabbed', "'\ttabbed"],
  ['＝1', "'＝1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  [' \u00a0\ufeff=1', "' \u00a0\ufeff=1"],
  // For locales in which spreadsheets split lines at semicolons.
  ['Abies;=1', "Abies;'=1"],
  ['Abies; "-1";+1', 'Abies; "\'-1";\'+1'],
  ['Abies\r\n=1', "Abies\r\n'=1"],
  ['Abies\n"@"', 'Abies\n"\'@"'],
] as const
for (const [name, harmless] of ESCAPED) {
  t.test(`${JSON.stringify(name)} is escaped`, async (t) => {
    const line = formulaFreeLine({ id: 1n, name, tag: name })
    t.same(parse(line), [['1', harmless, harmless]])
  })
}

for (const name of [
  'Abies alba Mill.',
  "'=1",
  '',
  'a=b',
  'Carex -lutea',
  'a "-b", =c',
  'a; b',
  'a;',
  '1-1',
]) {
  t.test(`${JSON.stringify(name)} is only quoted`, async (t) => {
    const line = formulaFreeLine({ id: 1n, name })
    t.equal(line, `1,"${name.replaceAll('"', '""')}",\n`)
  })
}

t.test('an id stays a number, even if it is negative', async (t) => {
  t.equal(formulaFreeLine({ id: -5n, name: 'Abies', tag: '' }), '-5,"Abies",""\n')
})

/** Strings that consist mostly of significant characters. */
const text = fc
  .array(fc.constantFrom(...'=+-@＝＠\t\r\n;,"\' 1a|'), { maxLength: 12 })
  .map((characters) => characters.join(''))
const id = fc.bigInt({ min: -3n, max: 3n })
const plants = fc.oneof(fc.record({ id, name: text }), fc.record({ id, name: text, tag: text }))

/** A spreadsheet may or may not strip quotes and spaces before it looks at the first character. */
const FORMULA = /^["\s]*[=+\-@＝＋－＠]/

t.test('no cell is a formula, whether lines are split at commas or semicolons', async () => {
  fc.assert(
    fc.property(plants, (plant) => {
      const line = formulaFreeLine(plant)
      const [record] = parse(line) as string[][]
      for (const cell of record?.slice(1) ?? []) assert.doesNotMatch(cell, /^\s*[=+\-@＝＋－＠]/)
      const [first, ...others] = line.split(/[;\t\r\n]/)
      for (const cell of others) assert.doesNotMatch(cell, FORMULA)
      // The id and the name do not read as a number with a decimal comma.
      assert.match(first ?? '', /^-?\d+,"/)
    }),
    { numRuns: runs(500) },
  )
})

t.test('escaping takes linear time', async (t) => {
  for (const part of ['=', ' ', ';', '; ', '"', ';"', '\t', '\r\n', ';\u00a0"']) {
    const name = part.repeat(2 ** 18 / part.length)
    t.ok(formulaFreeLine({ id: 1n, name }).length >= name.length, JSON.stringify(part))
  }
})
