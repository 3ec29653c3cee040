import t from 'tap'
import { detectFormat } from '../../src/transfer/format.ts'

for (const [file, format] of [
  ['plants.ndjson', 'ndjson'],
  ['a.csv/plants.jsonl', 'ndjson'],
  ['PLANTS.CSV', 'csv'],
] as const) {
  t.test(`the format of ${file} is ${format}`, async (t) => {
    t.equal(detectFormat(file), format)
  })
}

for (const file of ['plants', 'plants.json', 'plants.csv.gz', '.csv', '-']) {
  t.test(`${file} has no known format`, async (t) => {
    const message = `cannot tell the format of ${file}: expected a name ending in one of .ndjson, .jsonl, .csv`
    t.throws(() => detectFormat(file), { message })
    t.throws(() => detectFormat(file, '; use --format'), { message: `${message}; use --format` })
  })
}
