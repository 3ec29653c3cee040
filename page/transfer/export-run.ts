import type { Page, PlantStoreClient, StoredPlant } from '../../client/client.ts'
import type { RecordFormat, Separator } from '../../core/files/record-formats.ts'
import { limits } from '../../core/generated/limits.gen.ts'
import type { Filter } from '../list/filter.ts'
import { recordFormats, spreadsheetFormat } from '../model/current-members.ts'
import { cut } from '../text/display-text.ts'

/** The files that plants can be exported to. */
export const exportFormats = {
  csv: { type: 'text/csv', extension: 'csv' },
  spreadsheet: { type: 'text/csv', extension: 'csv' },
  ndjson: { type: 'application/x-ndjson', extension: 'ndjson' },
} as const

export type ExportFormat = keyof typeof exportFormats

/** Without it, Excel takes UTF-8 for the encoding of the system. */
const BYTE_ORDER_MARK = '\ufeff'

/** How plants are written: as the command line's export does, but with what Excel needs. */
function recordFormatOf(format: ExportFormat, separator: Separator): RecordFormat {
  if (format !== 'spreadsheet') return recordFormats[format]
  const { header, line } = spreadsheetFormat(separator)
  return { header: BYTE_ORDER_MARK + header, line }
}

/** The separator that spreadsheets expect: that of lists, which depends on the decimal mark. */
export function separatorOf(locale: string): Separator {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5)
  return parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ';' : ','
}

/** Enough to recognize a filter. */
const NAME_LENGTH = 40

/** What to call a file: its kind, its filter and the day, such as `plants-spreadsheet-tag-Tree-2026-11-26.csv`. */
export function exportName(
  format: ExportFormat,
  { tag, untagged, q, filter }: Filter,
  day: Date,
): string {
  const parts = ['plants']
  if (format === 'spreadsheet') parts.push(format)
  if (tag !== undefined) parts.push('tag', toFileName(tag) || 'empty')
  if (untagged) parts.push('untagged')
  if (q !== undefined) parts.push('name', toFileName(q))
  if (filter !== undefined) parts.push('filtered')
  const [year, month, date] = [day.getFullYear(), day.getMonth() + 1, day.getDate()]
  const digits = [year, month, date].map((number) => String(number).padStart(2, '0'))
  return `${[...parts, ...digits].filter((part) => part !== '').join('-')}.${exportFormats[format].extension}`
}

/** Every system allows letters and digits in the name of a file. */
function toFileName(text: string): string {
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return cut(words.join('-'), NAME_LENGTH).replace('…', '')
}

/** A file, and what a person should know about it. */
export interface Export {
  readonly content: Blob
  /** The number of ids that spreadsheets round. */
  readonly longIds: number
  /** The first of them. */
  readonly firstLongIds: readonly bigint[]
}

/** Spreadsheets keep 15 digits of a number. */
const DIGITS_MAX = 15

const LONG_IDS_SHOWN = 3

const PAGE_SIZE = limits.listPlants.limit.maximum

/**
 * Reads the plants that a filter selects, in id order. Changes by others meanwhile can be included or missed.
 *
 * @param onProgress called after each request with the number of plants so far
 * @throws what `PlantStoreClient.listPlants` throws
 */
export async function exportPlants(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  format: ExportFormat,
  {
    separator = ',',
    signal,
    onProgress,
  }: {
    /** Only for spreadsheets. */
    readonly separator?: Separator
    readonly signal: AbortSignal
    readonly onProgress: (plants: number) => void
  },
): Promise<Export> {
  const { header, line } = recordFormatOf(format, separator)
  const firstLongIds: bigint[] = []
  let longIds = 0
  const parts: Blob[] = [new Blob([header])]
  let count = 0
  let page: Page | undefined = await client.listPlants({ ...filter, limit: PAGE_SIZE }, { signal })
  while (page !== undefined) {
    // A Blob rather than a string, because a browser can keep it on disk.
    parts.push(new Blob([page.plants.map((plant: StoredPlant) => line(plant)).join('')]))
    for (const { id } of page.plants) {
      if (String(id).replace('-', '').length <= DIGITS_MAX) continue
      longIds += 1
      if (longIds <= LONG_IDS_SHOWN) firstLongIds.push(id)
    }
    count += page.plants.length
    onProgress(count)
    page = await page.next?.({ signal })
  }
  const content = new Blob(parts, { type: exportFormats[format].type })
  return { content, longIds, firstLongIds }
}
