import { CsvReader, type Dialect } from '../../../core/files/csv-reader.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import { JsonArrayReader, NdjsonReader } from '../../../core/files/json-readers.ts'
import {
  type FileChoices,
  type PlantFile,
  recognizeFile,
  START_BYTES,
} from '../../../core/files/plant-file.ts'
import { members } from '../../../core/members/members.gen.ts'
import type { Member } from '../../../core/members/members.ts'

const COMMAS: Dialect = { separator: ',', quote: '"' }

const readers = {
  csv: (dialect: Dialect) => new CsvReader(dialect),
  ndjson: () => new NdjsonReader(),
  json: () => new JsonArrayReader(),
}

/** The records of a file that arrives in parts and, if it cannot be read to its end, why. */
export function readRecords(
  format: keyof typeof readers,
  text: string,
  partLength = 2 ** 16,
  dialect = COMMAS,
): { readonly records: readonly FileRecord[]; readonly problem?: unknown } {
  const reader = readers[format](dialect)
  const records: FileRecord[] = []
  try {
    for (let start = 0; start < text.length; start += partLength) {
      for (const record of reader.read(text.slice(start, start + partLength))) records.push(record)
    }
    for (const record of reader.end()) records.push(record)
    return { records }
  } catch (problem) {
    return { records, problem }
  }
}

/** What text or bytes are recognized as. */
export function recognize(
  content: string | Uint8Array,
  choices: FileChoices = {},
  of: readonly Member[] = members,
): Promise<PlantFile> {
  const bytes = Buffer.from(content)
  const isWhole = bytes.length <= START_BYTES
  return recognizeFile(bytes.subarray(0, START_BYTES), isWhole, of, choices)
}

/** The records of a file that are not blank. */
export async function readAll(
  { read }: PlantFile,
  content: string | Uint8Array,
  chunkBytes = 2 ** 16,
): Promise<FileRecord[]> {
  const bytes = Buffer.from(content)
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += chunkBytes) {
      yield bytes.subarray(start, start + chunkBytes)
    }
  }
  const batches = await Array.fromAsync(read(chunks()))
  return batches.flatMap(({ records }) => records).filter(({ isBlank }) => !isBlank)
}
