import { StoreUnavailable } from '../service/plant-store.ts'
import { keepCompiledCode } from './compile-cache.ts'
import { ConfigError } from './config/config.ts'
import { ContractError } from './contract/contract.ts'
import { StoreError } from './stores/store-error.ts'

/** What the person at the command line can mend; said in a line, without a stack. */
const FOR_PEOPLE = [ConfigError, ContractError, StoreError, StoreUnavailable]

keepCompiledCode()

try {
  const { program } = await import('./commands/program.ts')
  await program().parseAsync()
} catch (error) {
  const known = FOR_PEOPLE.some((kind) => error instanceof kind) || isAddressError(error)
  console.error(known ? `plant-store: ${(error as Error).message}` : error)
  process.exitCode = 1
}

/** The address to listen on is unknown, taken, forbidden or not one of this machine. */
function isAddressError(error: unknown): boolean {
  return ['getaddrinfo', 'listen'].includes((error as NodeJS.ErrnoException).syscall ?? '')
}
