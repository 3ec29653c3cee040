import { type Format, readers } from '../../formats/readers.ts'
import type { Row } from '../../formats/rows.ts'

/** The rows of a file that arrives in parts and, if it cannot be read to its end, why. */
export function readRows(
  format: Format,
  text: string,
  partLength = 2 ** 16,
): { readonly rows: readonly Row[]; readonly problem?: unknown } {
  const reader = new readers[format].Reader()
  const rows: Row[] = []
  try {
    for (let start = 0; start < text.length; start += partLength) {
      for (const row of reader.read(text.slice(start, start + partLength))) rows.push(row)
    }
    for (const row of reader.end()) rows.push(row)
    return { rows }
  } catch (problem) {
    return { rows, problem }
  }
}
