import { readCsv } from './csv.ts'
import type { Format } from './format.ts'
import { readJsonArray, readNdjson } from './json-records.ts'
import type { ReadRecords } from './record.ts'

interface Reader {
  readonly read: ReadRecords
  /** What the number of a record counts, for messages. */
  readonly counted: 'line' | 'item'
}

/** How plants are read from each format. */
export const readers: { readonly [Each in Format]: Reader } = {
  ndjson: { read: readNdjson, counted: 'line' },
  csv: { read: readCsv, counted: 'line' },
  json: { read: readJsonArray, counted: 'item' },
}
