import type { Database } from 'better-sqlite3'
import { SELECTOR_BYTES, type StoredToken } from '../../../../service/token-store.ts'

/** Prepares the changes that TokenStore describes. The caller runs them in a transaction. */
export function prepareTokenChanges(db: Database) {
  const insert = db.prepare(
    `INSERT INTO tokens (selector, digest, name, scopes, created_at, expires_at, last_used_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const any = db.prepare('SELECT 1 FROM tokens LIMIT 1')
  const remove = db.prepare('DELETE FROM tokens WHERE name = ?')
  const noteUse = db.prepare('UPDATE tokens SET last_used_at = ? WHERE name = ?')

  const add = ({ digest, name, scopes, ...token }: StoredToken): boolean => {
    const selector = digest.subarray(0, SELECTOR_BYTES)
    const { createdAt, expiresAt, lastUsedAt } = token
    const times = [createdAt, expiresAt, lastUsedAt].map((time) => time?.getTime() ?? null)
    return insert.run(selector, digest, name, scopes.join(), ...times).changes === 1
  }
  return {
    add,
    addFirst: (token: StoredToken): boolean => any.get() === undefined && add(token),
    remove: (name: string): boolean => remove.run(name).changes === 1,
    noteUse: (name: string, at: Date): undefined => {
      noteUse.run(at.getTime(), name)
    },
  }
}
