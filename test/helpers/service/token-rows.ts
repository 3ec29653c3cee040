/** A statement that inserts the record of a token. Its digest is in hexadecimal. */
export function insertToken(name: string, alias: string, digest: string): string {
  const value = JSON.stringify({ digest, scopes: ['read'], createdAt: 0 })
  return `INSERT INTO plant_store_records (kind, key, alias, value)
          VALUES ('token', '${name}', '${alias}', '${value}')`
}
