import type { StoredPlant } from '../../service/plant-store.ts'
import { CsvReader, csvHeader, csvLine } from './csv.ts'
import type { ExportFormat, Format } from './format.ts'
import { JsonArrayReader } from './json-array.ts'
import { NdjsonReader, ndjsonLine } from './ndjson.ts'
import type { ReaderOptions, RecordReader } from './record-reader.ts'
import type { RecordValidator } from './record-validator.ts'

/** Reads plants in one format. */
export interface Decoder {
  /** @param limitBytes the largest record accepted */
  readonly Reader: new (
    validate: RecordValidator,
    limitBytes: number,
    options?: ReaderOptions,
  ) => RecordReader
  /** What the number of a record counts, for messages. */
  readonly counted: 'line' | 'item'
}

/** Reads and writes plants in one format. */
export interface Codec extends Decoder {
  /** Precedes the records; empty if the format has no header. */
  readonly header: string
  /** Formats a plant as one record, including its newline. */
  readonly line: (plant: StoredPlant) => string
}

export const codecs: { readonly [Each in Format]: Each extends ExportFormat ? Codec : Decoder } = {
  ndjson: { Reader: NdjsonReader, counted: 'line', header: '', line: ndjsonLine },
  csv: { Reader: CsvReader, counted: 'line', header: csvHeader, line: csvLine },
  json: { Reader: JsonArrayReader, counted: 'item' },
}
