import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { scopes } from '../../core/contract/scopes.ts'
import type { AccessTokens } from '../auth/access-tokens.ts'
import { type Config, TOKEN_VARIABLE } from '../config/config.ts'
import { locateDatabase } from '../stores/engines.ts'
import { locateTokenFiles } from '../stores/shared/engine.ts'
import { StoreError } from '../stores/shared/store-error.ts'
import { PRIVATE_MODE } from '../system/file-modes.ts'

/**
 * Where to find a token: in an environment variable, in a file, in this object, or nowhere until a command creates one.
 */
export type Access =
  | { readonly variable: string }
  | { readonly file: string }
  | { readonly token: string }
  /** Whether there are tokens, such as those of a restored backup. */
  | { readonly hasTokens: boolean }

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
  if ('server' in place) return { hasTokens: await tokens.exist() }
  const request = { name: 'first', scopes }
  if ('memory' in place) {
    let token = ''
    await tokens.issueFirst(request, async (first) => {
      token = first
    })
    return { token }
  }
  const { shared, own } = locateTokenFiles(place.file)
  const fail = (cause: unknown) => {
    throw new StoreError(`cannot write the access token to ${own}`, { cause })
  }
  await tokens.issueFirst(request, (token) =>
    writeFile(`${own}.${randomUUID()}`, `${token}\n`, { mode: PRIVATE_MODE, flag: 'wx' }).catch(
      fail,
    ),
  )
  const drafts = await findDrafts(own)
  for (const found of [shared, own, ...drafts]) {
    const token = await readFile(found, 'utf8').catch(() => '')
    if (!(await tokens.isStored(token.trim()))) continue
    const file = drafts.includes(found) ? await publish(found, shared, own).catch(fail) : found
    for (const other of drafts) await rm(other, { force: true })
    return { file }
  }
  return { hasTokens: true }
}

/** What starts have written before they stored a token. That of a killed start stays. */
async function findDrafts(own: string): Promise<string[]> {
  const names = await readdir(dirname(own))
  return names
    .filter((name) => name.startsWith(`${basename(own)}.`))
    .map((name) => join(dirname(own), name))
}

/** Gives a draft the shared name of the folder, or the database's own if another database has taken the shared one. */
async function publish(draft: string, shared: string, own: string): Promise<string> {
  try {
    await link(draft, shared)
    return shared
  } catch {
    await rename(draft, own)
    return own
  }
}
