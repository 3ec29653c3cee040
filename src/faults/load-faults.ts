import { readFile } from 'node:fs/promises'
import type { ContractDocument } from '../../contract/contract.ts'
import type { AdminRoutes } from '../admin/admin-server.ts'
import { FileError, fileError, messageOf } from '../system/errors.ts'
import { FAULTS_BYTES_MAX, faultRoutes } from './admin-routes.ts'
import type { Fault } from './fault.ts'
import { FaultInjection } from './fault-injection.ts'

/** What a service needs to fail on demand. */
export interface Faults {
  readonly injection: FaultInjection
  /** For the admin port. */
  readonly routes: AdminRoutes
}

/**
 * Prepares the faults of a service.
 *
 * @param faults the name of a file, or faults
 * @throws InvalidFaults, or FileError if the file is unreadable or invalid
 */
export async function loadFaults(
  faults: string | readonly object[],
  contract: ContractDocument,
): Promise<Faults> {
  const injection = new FaultInjection(contract)
  if (typeof faults === 'string') await loadFile(injection, faults)
  else injection.setFaults(faults as readonly Fault[])
  return { injection, routes: faultRoutes(injection) }
}

async function loadFile(injection: FaultInjection, file: string): Promise<void> {
  const bytes = await readFile(file).catch((error) => {
    throw fileError(`cannot read ${file}`, error)
  })
  const failure = `cannot use the faults in ${file}`
  if (bytes.length > FAULTS_BYTES_MAX) {
    throw new FileError(`${failure}: expected at most ${FAULTS_BYTES_MAX} bytes`)
  }
  try {
    injection.setFaultsJson(bytes.toString())
  } catch (error) {
    throw new FileError(`${failure}: ${messageOf(error)}`, { cause: error })
  }
}
