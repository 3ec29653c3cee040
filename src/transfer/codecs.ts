import type { StoredPlant } from '../../service/plant-store.ts'
import { CsvReader, csvHeader, csvLine } from './csv.ts'
import type { Format } from './format.ts'
import { NdjsonReader, ndjsonLine } from './ndjson.ts'
import type { RecordReader } from './record-reader.ts'
import type { RecordValidator } from './record-validator.ts'

/** Reads and writes plants in one format. */
export interface Codec {
  /** @param limitBytes the largest record accepted */
  readonly Reader: new (
    validate: RecordValidator,
    limitBytes: number,
  ) => RecordReader
  /** Precedes the records; empty if the format has no header. */
  readonly header: string
  /** Formats a plant as one record, including its newline. */
  readonly line: (plant: StoredPlant) => string
}

export const codecs: { readonly [Each in Format]: Codec } = {
  ndjson: { Reader: NdjsonReader, header: '', line: ndjsonLine },
  csv: { Reader: CsvReader, header: csvHeader, line: csvLine },
}
