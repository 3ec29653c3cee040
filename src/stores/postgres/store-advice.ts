import type { StoreAdvice } from '../store.ts'
import { formatStandbys, type StandbyGuarantee } from './durability/standby-guarantee.ts'
import { type ServerProduct, VERSION_MIN } from './server-product.ts'

/** Advice about a server, for the operator. */
export function advise(
  { name, isSupported }: ServerProduct,
  { required, violation }: Pick<StandbyGuarantee, 'required' | 'violation'>,
): StoreAdvice {
  if (!isSupported) {
    const warning = `the database server is ${name}, but only PostgreSQL ${VERSION_MIN} or later is supported: there is no change feed, and no standbys can be required; see docs/postgresql.md`
    return { warnings: [warning] }
  }
  const warnings: string[] = []
  if (required === undefined) {
    warnings.push(
      'acknowledged changes can be lost with the primary: set --require-standbys to the number of standbys that ' +
        'must have a change first, or to 0 to accept that',
    )
  }
  if (violation !== undefined) warnings.push(`changes are rejected: ${violation.detail}`)
  const acknowledgement = required
    ? `are acknowledged once they are on ${formatStandbys(required)}`
    : 'can be lost with the primary after they are acknowledged'
  return { warnings, acknowledgement }
}
