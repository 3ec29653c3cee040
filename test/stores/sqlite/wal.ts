import { existsSync, readFileSync } from 'node:fs'

/** The number of transactions in the WAL of a database, counted by their commit frames. */
export function commitsIn(database: string): number {
  const log = `${database}-wal`
  if (!existsSync(log)) return 0
  const bytes = readFileSync(log)
  if (bytes.length === 0) return 0
  // https://www.sqlite.org/fileformat2.html#walformat
  const pageSize = bytes.readUInt32BE(8)
  const salts = bytes.subarray(16, 24)
  let commits = 0
  for (let frame = 32; frame < bytes.length; frame += 24 + pageSize) {
    if (!bytes.subarray(frame + 8, frame + 16).equals(salts)) break
    if (bytes.readUInt32BE(frame + 4) !== 0) commits += 1
  }
  return commits
}
