import type { Page, PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { limits } from '../../contract/limits.gen.ts'
import type { Filter } from '../list/filter.ts'
import { formulaFreeLine, recordFormats } from '../model/members.ts'

/** The files that plants can be exported to. */
export const exportFormats = {
  csv: { type: 'text/csv', extension: 'csv' },
  spreadsheet: { type: 'text/csv', extension: 'csv' },
  ndjson: { type: 'application/x-ndjson', extension: 'ndjson' },
} as const

export type ExportFormat = keyof typeof exportFormats

/** How plants are written: as the command line's export does. */
function recordFormatOf(format: ExportFormat) {
  if (format === 'spreadsheet') return { ...recordFormats.csv, line: formulaFreeLine }
  return recordFormats[format]
}

const PAGE_SIZE = limits.listPlants.limit.maximum

/**
 * Reads the plants that a filter selects, in id order. Changes by others meanwhile can be included or missed.
 *
 * @param onProgress called after each request with the number of plants so far
 * @returns the file
 * @throws what `PlantStoreClient.listPlants` throws
 */
export async function exportPlants(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  format: ExportFormat,
  {
    signal,
    onProgress,
  }: { readonly signal: AbortSignal; readonly onProgress: (plants: number) => void },
): Promise<Blob> {
  const { header, line } = recordFormatOf(format)
  const parts: Blob[] = [new Blob([header])]
  let count = 0
  let page: Page | undefined = await client.listPlants({ ...filter, limit: PAGE_SIZE }, { signal })
  while (page !== undefined) {
    // A Blob rather than a string, because a browser can keep it on disk.
    parts.push(new Blob([page.plants.map((plant: StoredPlant) => line(plant)).join('')]))
    count += page.plants.length
    onProgress(count)
    page = await page.next?.({ signal })
  }
  return new Blob(parts, { type: exportFormats[format].type })
}
