import type { MemberType } from '../../core/members/members.ts'
import { type OwnMember, ownMembers } from '../model/current-members.ts'

/** More columns would make scrolling slow. A plant's form and its details show the others. */
const COLUMNS_MAX = 20

/** Enough for usual values, in pixels. */
const WIDTHS: { readonly [Each in MemberType]: number } = {
  int64: 120,
  int32: 120,
  number: 120,
  boolean: 88,
  string: 144,
}

/** The space between columns, as in table.css. */
const GAP = 16

/** The own members that the table has columns for. */
export function columnMembers(): readonly OwnMember[] {
  return ownMembers.slice(0, COLUMNS_MAX)
}

/** The tracks of these columns in the table's grid, and the width that they add to it. Empty without any. */
export function fieldTracks(): { readonly tracks: string; readonly width: string } {
  const widths = columnMembers().map(({ type }) => WIDTHS[type])
  return {
    tracks: widths.map((width) => `[field] ${width}px`).join(' '),
    width: `${widths.reduce((sum, width) => sum + width + GAP, 0)}px`,
  }
}

/** Where the cells of the column with an index are. A phone has only the first two. */
export function fieldArea(index: number): { readonly [property: string]: string } {
  return { '--column': `field ${index + 1}` }
}

export function isNumeric({ type }: OwnMember): boolean {
  return type !== 'string' && type !== 'boolean'
}
