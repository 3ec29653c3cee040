/** How the plants of a file are written. */
export const formats = ['ndjson', 'csv', 'json', 'xlsx'] as const

export type Format = (typeof formats)[number]

/** What the number of a record counts, for messages. */
export type Counted = 'line' | 'item' | 'row'

export const counted: { readonly [Each in Format]: Counted } = {
  ndjson: 'line',
  csv: 'line',
  json: 'item',
  xlsx: 'row',
}
