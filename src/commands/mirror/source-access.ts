import type { OwnField } from '../../../core/members/own-fields.ts'
import { ConfigError, readToken, SOURCE_TOKEN_VARIABLE } from '../../config/config.ts'
import { Source, type SourceOptions } from '../../mirror/source.ts'
import { readBounded } from '../../system/bounded-file.ts'
import { messageOf } from '../../system/user-errors.ts'

/** Far more than a token that fits into a request has. */
const TOKEN_BYTES_MAX = 2 ** 16

/**
 * Prepares access to the service that is mirrored. Nothing is sent yet.
 *
 * @param tokenFile contains the access token. By default, the token is in the environment
 * @returns a function that opens the service for plants with some own fields
 * @throws ConfigError if the URL or the token is invalid, FileError if the file cannot be read
 */
export function prepareSource(
  url: string,
  tokenFile?: string,
  options?: Omit<SourceOptions, 'fields'>,
): (fields: readonly OwnField[]) => Source {
  const token = tokenFile === undefined ? tokenFromEnvironment() : readTokenFile(tokenFile)
  const open = (fields: readonly OwnField[]) => new Source(url, token, { ...options, fields })
  try {
    open([])
  } catch (error) {
    throw new ConfigError(messageOf(error), { cause: error })
  }
  return open
}

function tokenFromEnvironment(): string {
  const token = process.env[SOURCE_TOKEN_VARIABLE]
  if (token !== undefined) return readToken(SOURCE_TOKEN_VARIABLE, token)
  throw new ConfigError(
    `there is no access token for the source: set ${SOURCE_TOKEN_VARIABLE}, or use --token-file`,
  )
}

function readTokenFile(file: string): string {
  return readToken(`token in ${file}`, readBounded(file, TOKEN_BYTES_MAX).toString().trim())
}
