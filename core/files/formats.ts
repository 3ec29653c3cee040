/** How the plants of a file are written. */
export const formats = ['ndjson', 'csv', 'json', 'xlsx'] as const

export type Format = (typeof formats)[number]

/** Whether records have cells, which are text in columns. */
export function hasCells(format: Format): boolean {
  return format === 'csv' || format === 'xlsx'
}

/** What the number of a record counts, for messages. */
export type Counted = 'line' | 'item' | 'row'

export const counted: { readonly [Each in Format]: Counted } = {
  ndjson: 'line',
  csv: 'line',
  json: 'item',
  xlsx: 'row',
}
