import type { Row } from '../../page/transfer/file/rows.ts'

/** Splits text into parts, as a file arrives. */
export async function* partsOf(text: string, length = 2 ** 16): AsyncGenerator<string, void> {
  for (let start = 0; start < text.length; start += length) yield text.slice(start, start + length)
}

/** The rows of a file and, if it cannot be read to its end, why. */
export async function readAll(
  rows: AsyncIterable<Row>,
): Promise<{ readonly rows: readonly Row[]; readonly problem?: unknown }> {
  const all: Row[] = []
  try {
    for await (const row of rows) all.push(row)
    return { rows: all }
  } catch (problem) {
    return { rows: all, problem }
  }
}
