import { readFile, rm, writeFile } from 'node:fs/promises'
import { scopes } from '../contract/scopes.ts'
import type { AccessTokens } from '../service/access-tokens.ts'
import { type Config, TOKEN_VARIABLE } from './config/config.ts'
import { PRIVATE_MODE } from './file-modes.ts'
import { locateTokenFiles } from './stores/engine.ts'
import { locateDatabase } from './stores/engines.ts'
import { StoreError } from './stores/store-error.ts'

/**
 * Where to find a token: in an environment variable, in a file, in this object, or nowhere until a command creates one.
 */
export type Access =
  | { readonly variable: string }
  | { readonly file: string }
  | { readonly token: string }
  | {
      readonly command: string
      /** Whether there are tokens, such as those of a restored backup. */
      readonly hasTokens: boolean
    }

const CREATE_COMMAND = `plant-store token create --name mine --scope ${scopes.join()}`

/**
 * Creates a token unless the environment or the store has one. Writes it to a private file next to the database, or
 * only returns it if the database is in memory. On a database server, the operator creates the tokens.
 *
 * @throws StoreError if the file cannot be written
 */
export async function ensureFirstToken(config: Config, tokens: AccessTokens): Promise<Access> {
  if (config.token !== undefined) return { variable: TOKEN_VARIABLE }
  const place = locateDatabase(config.database)
  // Replicas share the server, and only one of them could have the file.
  if ('server' in place) return { command: CREATE_COMMAND, hasTokens: await tokens.exist() }
  const first = await tokens.issueFirst({ name: 'first', scopes })
  if ('memory' in place) return { token: first as string }
  const { file } = place
  const files = locateTokenFiles(file)
  if (first === undefined) {
    for (const file of Object.values(files)) {
      if (await hasValidToken(tokens, file)) return { file }
    }
    return { command: CREATE_COMMAND, hasTokens: true }
  }
  try {
    return { file: await writeTokenFile(first, files) }
  } catch (cause) {
    await tokens.revoke('first')
    throw new StoreError(`cannot write the access token to ${files.own}`, { cause })
  }
}

/** Writes the shared file of the folder, or the database's own if another database has taken the shared one. */
async function writeTokenFile(token: string, { shared, own }: { shared: string; own: string }) {
  // Never an existing file, which could be a symbolic link or readable by others.
  const options = { mode: PRIVATE_MODE, flag: 'wx' }
  try {
    await writeFile(shared, `${token}\n`, options)
    return shared
  } catch {
    await rm(own, { force: true })
    await writeFile(own, `${token}\n`, options)
    return own
  }
}

/** Whether the file can be read and contains a token that is valid for this store. */
async function hasValidToken(tokens: AccessTokens, file: string): Promise<boolean> {
  const token = await readFile(file, 'utf8').catch(() => '')
  return (await tokens.verify(token.trim())) !== undefined
}
