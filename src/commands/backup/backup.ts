import { resolve } from 'node:path'
import { systemClock } from '../../../core/time/clock.ts'
import { defaultConfig } from '../../config/config.ts'
import { findEngine } from '../../stores/engines.ts'
import type { BackupOptions, BackupSummary } from '../../stores/shared/engine.ts'
import { print } from '../console/output.ts'
import { type ProgressDisplay, startProgress } from '../console/progress.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Makes a verified copy of a database, which a service may be writing to, and prints its size. If a signal ends the
 * process, the unfinished copy is removed.
 *
 * @throws StoreError; see Engine.backUp
 */
export async function backup(file: string, database: string): Promise<void> {
  const { lockTimeout } = defaultConfig()
  await copy('backup', file, (options) =>
    findEngine(database).backUp({ database, lockTimeout, file, ...options }),
  )
}

const ADVICE = `Before you start the service:
- Tokens that were revoked after the backup are valid again: list them with "plant-store token list", and revoke them.
  Tokens that were created after it are unknown.
- Webhooks resume from their positions in the backup. Some events are delivered again. Changes that were made after the
  backup and not delivered yet are never delivered.
- Consumers of the change feed whose cursor is later than the backup get 410 and must read all plants again.
`

/**
 * Makes a verified database of a backup. Prints its size, and what else the operator has to do.
 *
 * @throws StoreError; see Engine.restore
 */
export async function restore(backup: string, database: string): Promise<void> {
  const warning = `plant-store: ${backup} has no .sha256 file, so it may have changed since the backup\n`
  await copy(
    'restore',
    database,
    (options) => findEngine(database).restore({ database, backup, ...options }),
    ({ isCompared }) => (isCompared ? ADVICE : `${warning}${ADVICE}`),
  )
}

const TASKS = {
  backup: { unit: 'pages', done: 'backed up' },
  restore: { unit: 'bytes', done: 'restored' },
}

/**
 * Shows the progress of a copy, and prints its size, followed by advice on standard error. If a signal ends the process,
 * the unfinished copy is removed. Once the copy gets its name, signals are ignored, so that what is there is always
 * complete and reported.
 */
async function copy<Summary extends BackupSummary>(
  what: keyof typeof TASKS,
  file: string,
  run: (options: Pick<BackupOptions, 'onProgress' | 'onPublish' | 'signal'>) => Promise<Summary>,
  advise: (summary: Summary) => string = () => '',
): Promise<void> {
  const start = systemClock.monotonic()
  const { unit, done } = TASKS[what]
  const abort = new AbortController()
  let progress: ProgressDisplay | undefined
  let isPublishing = false
  const stopHandling = onSignal(() => {
    if (isPublishing) return false
    progress?.end()
    abort.abort()
    process.stderr.write(`plant-store: interrupted: ${resolve(file)} was not created\n`)
    return true
  })
  const onProgress = (copied: number, total: number) => {
    progress ??= startProgress({ what, unit, total })
    progress.update(copied)
    if (copied === total) progress.printLine(`${what}: copied, now verifying the copy`)
  }
  const onPublish = () => {
    isPublishing = true
  }
  try {
    const summary = await run({ onProgress, onPublish, signal: abort.signal })
    progress?.end()
    try {
      await print(`${done} to ${describeFile(file, summary, start)}\n`)
    } finally {
      process.stderr.write(advise(summary))
    }
  } finally {
    progress?.end()
    stopHandling()
  }
}

/** @param start when the copy began, as `systemClock.monotonic()` */
export function describeFile(file: string, summary: BackupSummary, start: number): string {
  const { plants, bytes } = summary
  const seconds = ((systemClock.monotonic() - start) / 1000).toFixed(1)
  const size = `${plants.toLocaleString('en')} plants, ${bytes.toLocaleString('en')} bytes`
  return `${resolve(file)}: ${size}, ${seconds} s`
}

/**
 * Calls a function when a signal arrives. If it returns true, raises the signal again: shells and supervisors check which
 * signal ended a process.
 *
 * @returns a function that restores the default handling
 */
function onSignal(cleanUp: () => boolean): () => void {
  const end = (signal: NodeJS.Signals) => {
    if (!cleanUp()) return
    stopHandling()
    process.kill(process.pid, signal)
  }
  const stopHandling = () => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  for (const signal of SIGNALS) process.on(signal, end)
  return stopHandling
}
