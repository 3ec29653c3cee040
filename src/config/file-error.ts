import { getSystemErrorMessage } from 'node:util'
import { ConfigError } from './config.ts'

/**
 * What to throw in place of an error of the file system; any other error stays as it is.
 *
 * @param failure what has failed, such as `cannot read plants.csv`
 */
export function fileError(failure: string, error: unknown): unknown {
  const { errno } = error as NodeJS.ErrnoException
  if (errno === undefined) return error
  return new ConfigError(`${failure}: ${getSystemErrorMessage(errno)}`, { cause: error })
}
