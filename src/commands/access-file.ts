import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { AccessTokens } from '../../service/access-tokens.ts'
import { scopes } from '../../service/token-store.ts'
import type { Config } from '../config.ts'
import { IN_MEMORY } from '../stores/sqlite/database.ts'
import { StoreError } from '../stores/store-error.ts'

/** Where whoever started the service finds a token. */
export type Access =
  | { readonly variable: string }
  | { readonly file: string }
  | { readonly token: string }
  | { readonly command: string }

/**
 * Sees to it that there is a token: where the store has none and the environment gives none, one is
 * made and left in a file beside the database that only its owner can read.
 *
 * @throws StoreError if the file cannot be written
 */
export async function provideAccess(config: Config, tokens: AccessTokens): Promise<Access> {
  if (config.token !== undefined) return { variable: 'PLANT_STORE_TOKEN' }
  const database = resolve(config.database)
  // The second name is for when the first one is another database's in the same folder.
  const files = [join(dirname(database), 'access-token'), `${database}.access-token`]
  const first = await tokens.issueFirst({ name: 'first', scopes })
  if (first === undefined) {
    for (const file of files) if (await opens(tokens, file)) return { file }
    return { command: 'plant-store token create' }
  }
  if (config.database === IN_MEMORY) return { token: first }
  const file = files.find((name) => !existsSync(name)) ?? `${database}.access-token`
  try {
    await writeFile(file, `${first}\n`, { mode: 0o600 })
    return { file }
  } catch (cause) {
    await tokens.revoke('first')
    throw new StoreError(`cannot write the access token to ${file}`, { cause })
  }
}

/** Whether the file holds a token that is valid here. */
async function opens(tokens: AccessTokens, file: string): Promise<boolean> {
  if (!existsSync(file)) return false
  const token = await readFile(file, 'utf8')
  return (await tokens.verify(token.trim())) !== undefined
}
