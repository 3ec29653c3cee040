import { resolve } from 'node:path'
import { defaultConfig } from '../../config/config.ts'
import type { BackupSummary } from '../../stores/engine.ts'
import { findEngine } from '../../stores/engines.ts'
import { type Progress, startProgress } from '../progress.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Makes a verified copy of a database, which a service may be writing to, and prints its size. If a signal ends the
 * process, the unfinished copy is removed.
 *
 * @throws StoreError; see Engine.backUp
 */
export async function backup(file: string, database: string): Promise<void> {
  const start = performance.now()
  const { lockTimeout } = defaultConfig()
  const abort = new AbortController()
  let progress: Progress | undefined
  const endProgress = () => progress?.end()
  const stopHandling = onSignal(() => {
    endProgress()
    abort.abort()
  })
  const onProgress = (copied: number, total: number) => {
    progress ??= startProgress({ what: 'backup', unit: 'pages', total })
    progress.update(copied)
    if (copied === total) progress.printLine('backup: copied, now verifying the copy')
  }
  const options = { database, lockTimeout, file, onProgress, signal: abort.signal }
  const summary = await findEngine(database)
    .backUp(options)
    .finally(() => {
      stopHandling()
      endProgress()
    })
  process.stdout.write(`${describeBackup(file, summary, start)}\n`)
}

/** @param start when the backup began, as `performance.now()` */
export function describeBackup(file: string, summary: BackupSummary, start: number): string {
  const { plants, bytes } = summary
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const size = `${plants.toLocaleString('en')} plants, ${bytes.toLocaleString('en')} bytes`
  return `backed up to ${resolve(file)}: ${size}, ${seconds} s`
}

/**
 * Cleans up when a signal arrives, then raises it again: shells and supervisors check which signal ended a process.
 *
 * @returns a function that restores the default handling
 */
function onSignal(cleanUp: () => void): () => void {
  const end = (signal: NodeJS.Signals) => {
    restore()
    cleanUp()
    process.kill(process.pid, signal)
  }
  const restore = () => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  for (const signal of SIGNALS) process.on(signal, end)
  return restore
}
