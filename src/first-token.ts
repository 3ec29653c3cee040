import { readFile, rm, writeFile } from 'node:fs/promises'
import type { AccessTokens } from '../service/access-tokens.ts'
import { scopes } from '../service/token-store.ts'
import { type Config, TOKEN_VARIABLE } from './config/config.ts'
import { PRIVATE_MODE } from './file-modes.ts'
import { locationOf } from './stores/engines.ts'
import { StoreError } from './stores/store-error.ts'
import { tokenFilesOf } from './stores/token-files.ts'

/** Where whoever started the service finds a token. */
export type Access =
  | { readonly variable: string }
  | { readonly file: string }
  | { readonly token: string }
  | { readonly command: string }

const CREATE_COMMAND: Access = {
  command: `plant-store token create --name mine --scope ${scopes.join()}`,
}

/**
 * Sees to it that there is a token: where the store has none and the environment gives none, one is
 * made and left in a file beside the database that only its owner can read. For a database on a server
 * somebody has to make one.
 *
 * @throws StoreError if the file cannot be written
 */
export async function provideFirstToken(config: Config, tokens: AccessTokens): Promise<Access> {
  if (config.token !== undefined) return { variable: TOKEN_VARIABLE }
  const place = locationOf(config.database)
  // Whoever starts one of many replicas makes the tokens of all of them.
  if ('server' in place) return CREATE_COMMAND
  const first = await tokens.issueFirst({ name: 'first', scopes })
  if ('memory' in place) return { token: first as string }
  const { file } = place
  const files = tokenFilesOf(file)
  if (first === undefined) {
    for (const file of Object.values(files)) {
      if (await opens(tokens, file)) return { file }
    }
    return CREATE_COMMAND
  }
  try {
    return { file: await leave(first, files) }
  } catch (cause) {
    await tokens.revoke('first')
    throw new StoreError(`cannot write the access token to ${files.own}`, { cause })
  }
}

/** Another database in the same folder may have taken the shared name. */
async function leave(token: string, { shared, own }: { shared: string; own: string }) {
  // What is there keeps its mode and may be a link; only a file that is made anew is ours alone.
  const made = { mode: PRIVATE_MODE, flag: 'wx' }
  try {
    await writeFile(shared, `${token}\n`, made)
    return shared
  } catch {
    await rm(own, { force: true })
    await writeFile(own, `${token}\n`, made)
    return own
  }
}

/** Whether the file is there, may be read and holds a token that is valid here. */
async function opens(tokens: AccessTokens, file: string): Promise<boolean> {
  const token = await readFile(file, 'utf8').catch(() => '')
  return (await tokens.verify(token.trim())) !== undefined
}
