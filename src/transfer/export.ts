import type { StoredPlant } from '../../service/plant-store.ts'
import type { ExportFormat } from './format.ts'
import { FIELDS } from './unknown-fields.ts'

export interface Writer {
  /** Precedes the records; empty if the format has no header. */
  readonly header: string
  /** Formats a plant as one record, including its newline, which the reader of the format reads back exactly. */
  readonly line: (plant: StoredPlant) => string
}

/** How plants are written in each format. */
export const writers: { readonly [Each in ExportFormat]: Writer } = {
  ndjson: { header: '', line: ndjsonLine },
  csv: { header: `${FIELDS.join()}\n`, line: csvLine },
}

/**
 * Formats plants as the contents of a file, one batch at a time.
 *
 * @param onProgress called with the number of plants in the batches consumed so far
 */
export async function* formatPlants(
  batches: AsyncIterable<readonly StoredPlant[]>,
  { header, line }: Writer,
  onProgress: (plants: number) => void,
): AsyncGenerator<string, void> {
  let count = 0
  if (header !== '') yield header
  for await (const plants of batches) {
    yield plants.map(line).join('')
    count += plants.length
    onProgress(count)
  }
}

function ndjsonLine({ id, name, tag }: StoredPlant): string {
  const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`
  return `{"id":${id},"name":${JSON.stringify(name)}${rest}}\n`
}

function csvLine({ id, name, tag }: StoredPlant): string {
  return `${id},${quoteIfNeeded(name)},${tag === undefined ? '' : quoteIfNeeded(tag)}\n`
}

function quoteIfNeeded(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
