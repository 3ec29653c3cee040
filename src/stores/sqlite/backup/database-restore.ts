import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PRIVATE_FOLDER_MODE, PRIVATE_MODE } from '../../../system/file-modes.ts'
import type { BackupOptions, RestoreOptions, RestoreSummary } from '../../shared/engine.ts'
import { StoreError } from '../../shared/store-error.ts'
import { CHECKSUM_SUFFIX, compareChecksum, isUnused } from '../check/checksum.ts'
import { refuseMemory } from '../file/database.ts'
import { copyError, copyVerified, publish, withWriteErrors } from './database-backup.ts'

const CHUNK_BYTES = 2 ** 20

/** Makes a verified copy of a backup, of the bytes that its checksum covers; see Engine.restore. */
export async function restoreDatabase(options: RestoreOptions): Promise<RestoreSummary> {
  const { backup, database, ...others } = options
  refuseMemory(database)
  if (!existsSync(backup)) throw new StoreError(`there is no backup ${resolve(backup)}`)
  const folder = { recursive: true, mode: PRIVATE_FOLDER_MODE }
  await withWriteErrors(database, () => mkdir(dirname(resolve(database)), folder))
  const isCompared = existsSync(backup + CHECKSUM_SUFFIX)
  const copying = { ...others, database: backup, file: database, lockTimeout: 0 }
  const summary = await copyVerified(copying, copyBytes, async (copy, file, sha256) => {
    const finding = isCompared ? compareChecksum(backup, sha256) : undefined
    if (finding?.status === 'fault') throw copyError(backup, finding.message)
    await publish(copy, file)
  })
  return { ...summary, isCompared }
}

async function copyBytes(copy: string, options: BackupOptions): Promise<void> {
  const { database: backup, onProgress, signal } = options
  const { size } = statSync(backup)
  const source = createReadStream(backup, { highWaterMark: CHUNK_BYTES })
  const target = createWriteStream(copy, { flags: 'wx', mode: PRIVATE_MODE })
  let copied = 0
  source.on('data', (chunk) => {
    copied += chunk.length
    onProgress(copied, size)
  })
  await pipeline(source, target, { signal })
  // A database in use has a WAL, which is not copied.
  if (isUnused(backup)) return
  throw copyError(
    backup,
    'it is not a backup, or it has been used as a database since. Copy a database with "plant-store backup"',
  )
}
