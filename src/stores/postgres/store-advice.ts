import type { StoreAdvice } from '../shared/store.ts'
import { formatStandbys, type StandbyGuarantee } from './connection/standby-guarantee.ts'

/** Advice about the guarantee of acknowledgements, for the operator. */
export function advise({ required, violation }: StandbyGuarantee): StoreAdvice {
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
