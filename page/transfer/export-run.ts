import type { Page, PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { describeRecords, type ExportFormat } from '../../core/files/record-formats.ts'
import { PAGE_SIZE } from '../changes/find-plants.ts'
import type { Filter } from '../list/filter.ts'
import { members } from '../model/current-members.ts'
import { cut } from '../text/display-text.ts'

const MEDIA_TYPES: { readonly [Each in ExportFormat]: string } = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
}

/** Enough to recognize a filter. */
const NAME_LENGTH = 40

/** What to call a file: its filter and the day, such as `plants-tag-Tree-2026-11-26.csv`. */
export function exportName(
  format: ExportFormat,
  { tag, untagged, q, filter }: Filter,
  day: Date,
): string {
  const parts = ['plants']
  if (tag !== undefined) parts.push('tag', toFileName(tag) || 'empty')
  if (untagged) parts.push('untagged')
  if (q !== undefined) parts.push('name', toFileName(q))
  if (filter !== undefined) parts.push('filtered')
  const [year, month, date] = [day.getFullYear(), day.getMonth() + 1, day.getDate()]
  const digits = [year, month, date].map((number) => String(number).padStart(2, '0'))
  return `${[...parts, ...digits].filter((part) => part !== '').join('-')}.${format}`
}

/** Every system allows letters and digits in the name of a file. */
function toFileName(text: string): string {
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return cut(words.join('-'), NAME_LENGTH).replace('…', '')
}

/**
 * Reads the plants that a filter selects, in id order. Changes by others meanwhile can be included or missed.
 *
 * @param onProgress called after each request with the number of plants so far
 * @throws ExportProblem, and what `PlantStoreClient.listPlants` throws
 */
export async function exportPlants(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  format: ExportFormat,
  options: {
    readonly signal: AbortSignal
    readonly onProgress: (plants: number) => void
  },
): Promise<Blob> {
  const parts: Blob[] = []
  for await (const part of encode(format, readPages(client, filter, options))) {
    // A Blob rather than a string, because a browser can keep it on disk.
    parts.push(new Blob([part]))
  }
  return new Blob(parts, { type: MEDIA_TYPES[format] })
}

/** Writes plants as the command line's export does. */
async function* encode(
  format: ExportFormat,
  batches: AsyncIterable<readonly StoredPlant[]>,
): AsyncGenerator<string | Uint8Array<ArrayBuffer>, void> {
  if (format === 'xlsx') {
    const { writeWorkbook } = await import('../../core/files/xlsx/workbook-writer.ts')
    return yield* writeWorkbook(members, batches)
  }
  const { header, line } = describeRecords(members).recordFormats[format]
  yield header
  for await (const plants of batches) yield plants.map(line).join('')
}

async function* readPages(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  { signal, onProgress }: Parameters<typeof exportPlants>[3],
): AsyncGenerator<readonly StoredPlant[], void> {
  let count = 0
  let page: Page | undefined = await client.listPlants({ ...filter, limit: PAGE_SIZE }, { signal })
  while (page !== undefined) {
    yield page.plants
    count += page.plants.length
    onProgress(count)
    page = await page.next?.({ signal })
  }
}
