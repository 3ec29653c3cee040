import type { StoreAdvice } from '../../store.ts'
import type { ServerProduct } from '../connection/server-product.ts'
import { formatStandbys, type StandbyGuarantee } from './standby-guarantee.ts'

/** Advice about a server, for the operator. */
export function advise(product: ServerProduct, guarantee: StandbyGuarantee): StoreAdvice {
  const warnings: string[] = []
  if (!product.isTested) {
    warnings.push(
      `the database server is ${product.name}, which this service was never tested with; see docs/scaling.md`,
    )
  }
  // Other engines replicate changes by themselves.
  if (!product.isPostgres) return { warnings }
  const { required, violation } = guarantee
  if (required === undefined) {
    warnings.push(
      'acknowledged changes can be lost with the primary: set --require-standbys to the number of standbys that ' +
        'must have a change first, or to 0 to accept that',
    )
  }
  if (violation !== undefined) warnings.push(`changes are rejected: ${violation.detail}`)
  const changes = required
    ? `are acknowledged once they are on ${formatStandbys(required)}`
    : 'can be lost with the primary after they are acknowledged'
  return { warnings, changes }
}
