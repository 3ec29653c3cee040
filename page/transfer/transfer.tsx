import type { Session } from '../access/session.ts'

/** The plants that the table shows. An empty tag is a tag. */
export interface TransferFilter {
  readonly tag?: string
  readonly q?: string
}

/** The toolbar's buttons that import plants and export those that the filter selects. */
export function TransferButtons(_properties: {
  readonly session: Session
  readonly filter: TransferFilter
  /** Called once plants have been imported. */
  readonly onImported?: () => void
}) {
  return null
}
