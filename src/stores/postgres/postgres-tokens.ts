import { SELECTOR_BYTES, type StoredToken } from '../../../service/token-store.ts'
import { type TokenRow, toToken } from '../shared/rows.ts'
import type { Connections } from './connection/connections.ts'
import { LOCK_STORE } from './connection/locks.ts'
import type { Run } from './connection/pooled-client.ts'

const COLUMNS = 'name, digest, scopes, created_at, expires_at, last_used_at'
const INSERT = `
  INSERT INTO tokens (selector, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (name) DO NOTHING RETURNING name`

/** Implements TokenStore. */
export class PostgresTokens {
  readonly #connections: Connections

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async find(selector: Uint8Array): Promise<StoredToken | undefined> {
    const rows = await this.#connections.query<TokenRow>(
      `SELECT ${COLUMNS} FROM tokens WHERE selector = $1`,
      [Buffer.from(selector)],
    )
    return rows[0] && toToken(rows[0])
  }

  async list(): Promise<StoredToken[]> {
    const rows = await this.#connections.query<TokenRow>(`SELECT ${COLUMNS} FROM tokens`)
    // Sorted here, because the server's order depends on its locale.
    return rows.map(toToken).sort((one, other) => Buffer.compare(toBytes(one), toBytes(other)))
  }

  add(token: StoredToken): Promise<boolean> {
    return insert((text, values) => this.#connections.query(text, values), token)
  }

  addFirst(token: StoredToken): Promise<boolean> {
    return this.#connections.unverifiedTransaction(async (run) => {
      // Only one transaction at a time can add the first token.
      await run(LOCK_STORE)
      const present = await run('SELECT name FROM tokens LIMIT 1')
      return present.length === 0 && insert(run, token)
    })
  }

  async remove(name: string): Promise<boolean> {
    const removed = await this.#connections.query(
      'DELETE FROM tokens WHERE name = $1 RETURNING name',
      [name],
    )
    return removed.length > 0
  }

  async noteUse(name: string, at: Date): Promise<void> {
    await this.#connections.query('UPDATE tokens SET last_used_at = $1 WHERE name = $2', [
      at.getTime(),
      name,
    ])
  }
}

async function insert(run: Run, token: StoredToken): Promise<boolean> {
  const { name, digest, createdAt, expiresAt, lastUsedAt } = token
  const selector = Buffer.from(digest.subarray(0, SELECTOR_BYTES))
  const times = [createdAt, expiresAt, lastUsedAt].map((time) => time?.getTime())
  const values = [selector, name, Buffer.from(digest), token.scopes.join(), ...times]
  return (await run(INSERT, values)).length > 0
}

/** UTF-8 sorts by code point. */
function toBytes({ name }: StoredToken): Buffer {
  return Buffer.from(name)
}
