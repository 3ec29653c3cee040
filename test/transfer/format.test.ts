import t from 'tap'
import { detectFormat, isNdjsonName } from '../../src/transfer/format.ts'

for (const [file, format] of [
  ['plants.ndjson', 'ndjson'],
  ['a.csv/plants.jsonl', 'ndjson'],
  ['PLANTS.CSV', 'csv'],
] as const) {
  t.test(`the format of ${file} is ${format}`, async (t) => {
    t.equal(detectFormat(file), format)
    t.equal(isNdjsonName(file), format === 'ndjson')
  })
}

for (const file of ['plants', 'plants.csv.gz', '.csv', '-', 'a.json']) {
  t.test(`${file} has no format for an export`, async (t) => {
    const message = `cannot tell the format of ${file}: expected a name ending in one of .ndjson, .jsonl, .csv, .xlsx; otherwise use --format ndjson or csv or xlsx`
    t.throws(() => detectFormat(file), { message })
  })
}
