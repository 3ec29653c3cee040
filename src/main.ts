import { StoreUnavailable } from '../service/plant-store.ts'
import { useCompileCache } from './compile-cache.ts'
import { ConfigError } from './config/config.ts'
import { ContractError } from './contract/contract.ts'
import { StoreError } from './stores/store-error.ts'

/** Errors the user can fix. They are printed as one line without a stack trace. */
const USER_ERRORS = [ConfigError, ContractError, StoreError, StoreUnavailable]

useCompileCache()

try {
  const { program } = await import('./commands/program.ts')
  await program().parseAsync()
} catch (error) {
  const isUserError = USER_ERRORS.some((type) => error instanceof type) || isListenError(error)
  console.error(isUserError ? `plant-store: ${(error as Error).message}` : error)
  process.exitCode = 1
}

/** Whether the address is unknown, in use, forbidden or not one of this machine. */
function isListenError(error: unknown): boolean {
  return ['getaddrinfo', 'listen'].includes((error as NodeJS.ErrnoException).syscall ?? '')
}
