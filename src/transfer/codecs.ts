import type { StoredPlant } from '../../service/plant-store.ts'
import { CsvReader, csvHeader, csvLine } from './csv.ts'
import type { Check } from './entry.ts'
import type { Format } from './format.ts'
import { NdjsonReader, ndjsonLine } from './ndjson.ts'
import type { RecordReader } from './record-reader.ts'

/** How plants are read from a format, and written in it. */
export interface Codec {
  /** @param limit how many bytes a record may have */
  readonly Reader: new (
    check: Check,
    limit: number,
  ) => RecordReader
  readonly header: string
  readonly line: (plant: StoredPlant) => string
}

export const codecs: { readonly [Each in Format]: Codec } = {
  ndjson: { Reader: NdjsonReader, header: '', line: ndjsonLine },
  csv: { Reader: CsvReader, header: csvHeader, line: csvLine },
}
