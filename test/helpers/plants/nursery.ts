/** Contracts with own fields. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readOverlay } from '../../../core/contract/overlay/overlay.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'

const FILE = new URL('../../../data/nursery.yaml', import.meta.url)

/** The arguments with which a process has the own fields of a nursery. */
export const WITH_FIELDS = ['--contract', fileURLToPath(FILE)] as const

/** The own fields of a nursery. */
export const OWN_FIELDS: readonly OwnField[] = readOverlay(readFileSync(FILE)).fields

/** These, and fields of the types and formats that they lack. */
export const nursery: readonly OwnField[] = [
  ...OWN_FIELDS,
  { name: 'serial', schema: { type: 'integer', format: 'int64' } },
  { name: 'watered', schema: { type: 'string', format: 'date-time' } },
  { name: 'grower', schema: { type: 'string', format: 'email', maxLength: 100 } },
  { name: 'note', schema: { type: 'string', minLength: 1 } },
]
