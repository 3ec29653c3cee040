import type { ContractDocument } from '../../core/contract/contract.ts'
import { known } from '../../core/known.ts'
import type { AdminRoutes } from '../http/admin/admin-server.ts'
import type { Store } from '../stores/shared/store.ts'
import { readBounded } from '../system/bounded-file.ts'
import { FileError, messageOf } from '../system/user-errors.ts'
import { readSeed } from '../transfer/seed.ts'
import { FAULTS_BYTES_MAX, faultRoutes } from './admin-routes.ts'
import type { Fault } from './fault.ts'
import { FaultInjection } from './fault-injection.ts'

/** What a service needs to fail on demand. */
export interface Faults {
  readonly injection: FaultInjection
  /** For the admin port of a store. */
  routes(store: Store): AdminRoutes
}

/**
 * Prepares the faults of a service.
 *
 * @param faults the name of a file, or faults
 * @throws InvalidFaults, or FileError if the file is unreadable or invalid
 */
export function loadFaults(faults: string | readonly object[], contract: ContractDocument): Faults {
  const injection = new FaultInjection(contract)
  if (typeof faults === 'string') loadFile(injection, faults)
  else injection.setFaults(faults as readonly Fault[])
  return {
    injection,
    routes: (store) =>
      faultRoutes(injection, async (seed) => {
        await known(store.reset)(await readSeed(contract, seed))
        // Before another request can be recorded.
        injection.forgetAll()
      }),
  }
}

function loadFile(injection: FaultInjection, file: string): void {
  const bytes = readBounded(file, FAULTS_BYTES_MAX, `the faults in ${file}`)
  try {
    injection.setFaultsJson(bytes.toString())
  } catch (error) {
    throw new FileError(`cannot use the faults in ${file}: ${messageOf(error)}`, { cause: error })
  }
}
