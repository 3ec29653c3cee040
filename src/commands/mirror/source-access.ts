import { readFileSync } from 'node:fs'
import { ConfigError, readToken, SOURCE_TOKEN_VARIABLE } from '../../config/config.ts'
import { Source } from '../../mirror/source.ts'
import { fileError, messageOf } from '../../system/errors.ts'

/**
 * Opens the service that is mirrored. Nothing is sent yet.
 *
 * @param tokenFile contains the access token. By default, the token is in the environment
 * @param retries see Source
 * @throws ConfigError if the URL or the token is invalid, FileError if the file cannot be read
 */
export function openMirrored(
  url: string,
  tokenFile?: string,
  signal?: AbortSignal,
  retries?: number,
): Source {
  const token = tokenFile === undefined ? tokenFromEnvironment() : readTokenFile(tokenFile)
  try {
    return new Source(url, token, signal, retries)
  } catch (error) {
    throw new ConfigError(messageOf(error), { cause: error })
  }
}

function tokenFromEnvironment(): string {
  const token = process.env[SOURCE_TOKEN_VARIABLE]
  if (token !== undefined) return readToken(SOURCE_TOKEN_VARIABLE, token)
  throw new ConfigError(
    `there is no access token for the source: set ${SOURCE_TOKEN_VARIABLE}, or use --token-file`,
  )
}

function readTokenFile(file: string): string {
  try {
    return readToken(`token in ${file}`, readFileSync(file, 'utf8').trim())
  } catch (error) {
    throw fileError(`cannot read ${file}`, error)
  }
}
