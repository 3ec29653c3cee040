import t from 'tap'
import { formatOf } from '../../src/transfer/format.ts'

for (const [file, format] of [
  ['plants.ndjson', 'ndjson'],
  ['a.csv/plants.jsonl', 'ndjson'],
  ['PLANTS.CSV', 'csv'],
] as const) {
  t.test(`${file} is ${format}`, async (t) => {
    t.equal(formatOf(file), format)
  })
}

for (const file of ['plants', 'plants.json', 'plants.csv.gz', '.csv', '-']) {
  t.test(`${file} does not say its format`, async (t) => {
    const message = `the name ${file} does not end with one of .ndjson, .jsonl, .csv`
    t.throws(() => formatOf(file), { message })
    t.throws(() => formatOf(file, '; say so'), { message: `${message}; say so` })
  })
}
