import { loadOverlay } from '../../contract/overlay.ts'
import type { OwnField } from '../../contract/own-fields.ts'

/** The fields of a nursery, and one of each type and format that these lack. */
export const nursery: readonly OwnField[] = [
  ...loadOverlay(new URL('../../data/nursery.yaml', import.meta.url)),
  { name: 'serial', schema: { type: 'integer', format: 'int64' } },
  { name: 'watered', schema: { type: 'string', format: 'date-time' } },
  { name: 'grower', schema: { type: 'string', format: 'email', maxLength: 100 } },
  { name: 'note', schema: { type: 'string', minLength: 1 } },
]
