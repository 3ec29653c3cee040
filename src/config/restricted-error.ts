import { StoreUnavailable } from '../../service/plant-store.ts'
import { type MirrorRestriction, readOnlyReason } from '../../service/restriction.ts'

/**
 * The error for a change that a restricted database refuses. Its detail tells the operator which command ends the
 * restriction.
 */
export function restrictedError(
  restriction: 'frozen' | Pick<MirrorRestriction, 'source'>,
): StoreUnavailable {
  const [notice, command] =
    restriction === 'frozen'
      ? [readOnlyReason(restriction), 'unfreeze']
      : [`it mirrors ${restriction.source}`, 'promote']
  // Ends with the command, so that an option can be appended.
  const detail = `${notice}; to end this, run plant-store ${command}`
  return new StoreUnavailable('restricted', detail, notice)
}
