import t from 'tap'
import { detectFormat, exportFormats, formats } from '../../src/transfer/format.ts'

for (const [file, format] of [
  ['plants.ndjson', 'ndjson'],
  ['a.csv/plants.jsonl', 'ndjson'],
  ['PLANTS.CSV', 'csv'],
  ['plants.json', 'json'],
] as const) {
  t.test(`the format of ${file} is ${format}`, async (t) => {
    t.equal(detectFormat(file, formats), format)
  })
}

for (const file of ['plants', 'plants.csv.gz', '.csv', '-']) {
  t.test(`${file} has no known format`, async (t) => {
    const message = `cannot tell the format of ${file}: expected a name ending in one of .ndjson, .jsonl, .csv, .json`
    t.throws(() => detectFormat(file, formats), { message })
    t.throws(() => detectFormat(file, formats, '; use --format'), {
      message: `${message}; use --format`,
    })
  })
}

t.test('plants are not exported to a JSON array', async (t) => {
  const message =
    'cannot tell the format of a.json: expected a name ending in one of .ndjson, .jsonl, .csv, .xlsx'
  t.throws(() => detectFormat('a.json', exportFormats), { message })
})
