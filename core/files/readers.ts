import { CsvReader } from './csv-reader.ts'
import type { RecordReader } from './file-record.ts'
import { JsonArrayReader, NdjsonReader } from './json-readers.ts'

/** How the plants of a file are written. */
export type Format = 'ndjson' | 'csv' | 'json'

interface FormatReader {
  readonly Reader: new () => RecordReader
  /** What the number of a record counts, for messages. */
  readonly counted: 'line' | 'item'
}

/** How the records of each format are read. */
export const readers: { readonly [Each in Format]: FormatReader } = {
  ndjson: { Reader: NdjsonReader, counted: 'line' },
  csv: { Reader: CsvReader, counted: 'line' },
  json: { Reader: JsonArrayReader, counted: 'item' },
}
