import ms from 'ms'
import { systemClock } from '../../../core/time/clock.ts'
import { retry } from '../../../core/time/retries.ts'
import { defaultConfig } from '../../config/config.ts'
import { findEngine } from '../../stores/engines.ts'
import type { FolderBackup } from '../../stores/shared/engine.ts'
import { messageOf } from '../../system/user-errors.ts'
import { announce } from '../console/output.ts'
import { onNpmExit, onStopSignal } from '../console/signals.ts'
import { describeFile } from './backup.ts'
import { writeBackupMetrics } from './backup-metrics.ts'

/** How long to wait after a failed backup, unless the interval is shorter. */
const RETRY_MS_MAX = 60_000

export interface RepeatedBackupOptions {
  readonly database: string
  readonly intervalMs: number
  /** The number of backups to keep. */
  readonly keep: number
  /** See writeBackupMetrics. */
  readonly metricsFile?: string | undefined
}

/**
 * Makes backups in a folder at each interval, and prints a line about each, until a signal or the exit of npm. Then
 * removes an unfinished backup and resolves.
 *
 * @throws StoreError; see Engine.openBackups
 */
export async function backUpRepeatedly(
  folder: string,
  { intervalMs, metricsFile, ...others }: RepeatedBackupOptions,
): Promise<void> {
  const { lockTimeout } = defaultConfig()
  const { database } = others
  const backups = await findEngine(database).openBackups({ folder, lockTimeout, ...others })
  const stop = new AbortController()
  const { signal } = stop
  const end = () => stop.abort()
  onStopSignal(end)
  onNpmExit(end)
  const { wait, monotonic } = systemClock
  const writeMetrics = (newest: Date | undefined) => {
    if (metricsFile === undefined) return
    try {
      writeBackupMetrics(metricsFile, { folder, intervalMs, newest })
    } catch (error) {
      report(`cannot write ${metricsFile}: ${messageOf(error)}`)
    }
  }
  const backUp = async () => {
    const start = monotonic()
    const begun = new Date()
    const backup = await backups.add(begun, signal)
    writeMetrics(begun)
    await printBackup(backup, start)
    return start
  }
  const retryMs = Math.min(intervalMs, RETRY_MS_MAX)
  const reportFailure = (error: unknown) => {
    report(`${messageOf(error)}; trying again in ${ms(retryMs)}`)
    return 0
  }
  try {
    const now = new Date()
    const newest = backups.newest(now)
    writeMetrics(newest)
    const ageMs = now.getTime() - (newest?.getTime() ?? Number.NEGATIVE_INFINITY)
    const delayMs = Math.max(0, intervalMs - ageMs)
    const first = new Date(now.getTime() + delayMs).toISOString()
    await announce(`backing up to ${folder}; the next backup begins at ${first}\n`)
    await wait(delayMs, signal)
    while (!signal.aborted) {
      const backedUp = retry(backUp, { delayMs: retryMs, delayAfter: reportFailure, signal })
      // It rejects only with the reason of the signal.
      const start = await backedUp.catch(monotonic)
      await wait(Math.max(0, start + intervalMs - monotonic()), signal)
    }
  } finally {
    backups.close()
  }
}

/** @param start when the backup began, as `systemClock.monotonic()` */
export async function printBackup(backup: FolderBackup, start: number): Promise<void> {
  const { file, removed, problem } = backup
  const removal = removed.length > 0 ? `; removed ${removed.join(', ')}` : ''
  await announce(`backed up to ${describeFile(file, backup, start)}${removal}\n`)
  if (problem !== undefined) report(problem)
}

function report(message: string): void {
  process.stderr.write(`plant-store: ${message}\n`)
}
