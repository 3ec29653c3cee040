import type { FileRecord } from '../../../core/files/file-record.ts'
import { type Format, readers } from '../../../core/files/readers.ts'

/** The records of a file that arrives in parts and, if it cannot be read to its end, why. */
export function readRecords(
  format: Format,
  text: string,
  partLength = 2 ** 16,
): { readonly records: readonly FileRecord[]; readonly problem?: unknown } {
  const reader = new readers[format].Reader()
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
