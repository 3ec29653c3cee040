import { getSystemErrorMessage } from 'node:util'
import { ConfigError } from './config.ts'

/**
 * Turns an error of the file system into a ConfigError. Returns any other error unchanged.
 *
 * @param failure such as `cannot read plants.csv`
 */
export function fileError(failure: string, error: unknown): unknown {
  const { errno } = error as NodeJS.ErrnoException
  if (errno === undefined) return error
  return new ConfigError(`${failure}: ${getSystemErrorMessage(errno)}`, { cause: error })
}
