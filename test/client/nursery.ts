/** A service whose plants have own fields of each type. */
import type { Test } from 'tap'
import type { OwnField } from '../../contract/own-fields.ts'
import { type Service, startService } from '../helpers/service.ts'

const FIELDS: readonly OwnField[] = [
  { name: 'height', schema: { type: 'integer', format: 'int32', minimum: 0, title: 'Height' } },
  { name: 'light', schema: { type: 'string', enum: ['sun', 'half shade', 'shade'] } },
  { name: 'planted', schema: { type: 'string', format: 'date', examples: ['2026-11-25'] } },
  { name: 'price', schema: { type: 'number', minimum: 0 } },
  { name: 'inStock', schema: { type: 'boolean' } },
  { name: 'serial', schema: { type: 'integer', format: 'int64' } },
]

export function startNursery(t: Test): Promise<Service> {
  return startService(t, { fields: FIELDS })
}
