import { existsSync, rmSync } from 'node:fs'
import { link, mkdtemp, open } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ConfigError, defaultConfig } from '../config/config.ts'
import { locationOf } from '../stores/location.ts'
import type { Copied } from '../stores/sqlite/backup.ts'
import { COMPANIONS } from '../stores/sqlite/file-access.ts'
import { copyInThread } from '../stores/sqlite/threaded-backup.ts'
import { type Progress, startProgress } from './progress.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const ON_A_SERVER =
  'a database on a server is backed up by the tools of the server, such as pg_dump or pg_basebackup'

/**
 * Makes a verified copy of a database, which a service may be writing to, and prints a line about it.
 * Until it is whole the copy is in a folder `file`.partial-…, which goes in the end, but for a kill -9.
 *
 * @throws ConfigError if `file` is there or cannot be written, StoreError if the database cannot be copied
 */
export async function backup(file: string, database: string): Promise<void> {
  const start = performance.now()
  if ('server' in locationOf(database)) throw new ConfigError(ON_A_SERVER)
  refuseTaken(file)
  const { plants, bytes } = await copyTo(file, database)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const counts = [`${plants.toLocaleString('en')} plants`, `${bytes.toLocaleString('en')} bytes`]
  process.stdout.write(`backed up to ${resolve(file)}: ${counts.join(', ')}, ${seconds} s\n`)
}

async function copyTo(file: string, database: string): Promise<Copied> {
  const folder = await writing(file, () => mkdtemp(`${resolve(file)}.partial-`))
  let progress: Progress | undefined
  const cleanUp = () => {
    progress?.end()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const ignoreSignals = onSignal(cleanUp)
  try {
    const copy = join(folder, 'plants.db')
    const options = { file: database, lockTimeout: defaultConfig().lockTimeout, copy }
    const copied = await copyInThread(options, (done, total) => {
      progress ??= startProgress({ what: 'backup', unit: 'pages', total })
      progress.update(done)
      if (done === total) progress.say('backup: copied, now verifying the copy')
    })
    await writing(file, () => publish(copy, file))
    return copied
  } finally {
    ignoreSignals()
    cleanUp()
  }
}

/** A log of another database would be applied to the copy at its first opening. */
function refuseTaken(file: string): void {
  for (const each of ['', ...COMPANIONS].map((ending) => file + ending)) {
    if (existsSync(each)) throw taken(each)
  }
  if (COMPANIONS.some((ending) => file.endsWith(ending))) {
    throw new ConfigError(
      `cannot write ${file}: SQLite gives such names to its logs; choose another`,
    )
  }
}

/** Gives the copy its name when it is on disk, wholly or not at all, unless there is such a file now. */
async function publish(copy: string, file: string): Promise<void> {
  await sync(copy)
  // Unlike a renaming this replaces nothing.
  await link(copy, file)
  await sync(dirname(resolve(file)))
}

async function sync(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function writing<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw taken(file)
    throw new ConfigError(`cannot write ${file}: ${message}`, { cause: error })
  }
}

function taken(file: string): ConfigError {
  return new ConfigError(`there is ${file} already; nothing is overwritten`)
}

/** Lets a signal end the process as it does by itself, whatever the thread is at, but tidily. */
function onSignal(cleanUp: () => void): () => void {
  const end = (signal: NodeJS.Signals) => {
    ignore()
    cleanUp()
    process.kill(process.pid, signal)
  }
  const ignore = () => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  for (const signal of SIGNALS) process.on(signal, end)
  return ignore
}
