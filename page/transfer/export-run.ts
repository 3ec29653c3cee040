import type { Page, PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { limits } from '../../contract/limits.gen.ts'
import { formulaFreeLine, recordFormats } from '../../formats/record-formats.ts'
import type { Filter } from '../list/filter.ts'

/** The files that plants can be exported to. They are written as the command line's export does. */
export const exportFormats = {
  csv: { ...recordFormats.csv, type: 'text/csv', extension: 'csv' },
  spreadsheet: { ...recordFormats.csv, line: formulaFreeLine, type: 'text/csv', extension: 'csv' },
  ndjson: { ...recordFormats.ndjson, type: 'application/x-ndjson', extension: 'ndjson' },
} as const

export type ExportFormat = keyof typeof exportFormats

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
  const { header, line, type } = exportFormats[format]
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
  return new Blob(parts, { type })
}
