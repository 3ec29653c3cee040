import { StoreUnavailable } from '../../../service/plant-store.ts'
import { shareResult } from '../../../time/shared-result.ts'
import { defaultConfig } from '../../config/config.ts'
import { type MirrorOptions, mirror } from '../../mirror/mirror.ts'
import { openStore } from '../../stores/engines.ts'
import type { StoreOptions } from '../../stores/shared/engine.ts'
import type { Store } from '../../stores/shared/store.ts'
import { Interrupted } from '../../system/errors.ts'
import { escapeControlCharacters } from '../../transfer/unknown-fields.ts'
import { type ProgressDisplay, startProgress } from '../console/progress.ts'
import { onNpmExit, onStopSignal } from '../console/signals.ts'
import { describeDatabase } from '../console/store-access.ts'
import { openMirrored } from './source-access.ts'

export interface MirrorCommandOptions extends Pick<MirrorOptions, 'once' | 'restart'> {
  readonly tokenFile?: string
  readonly database: string
  readonly keepChanges: number
  readonly keepChangesBytes: number
}

const INTERRUPTED = 'interrupted: the mirror has not caught up; run the command again to continue'

/**
 * Copies the plants of a service to a database, and applies its changes until a signal. Prints a line whenever the mirror
 * falls behind or catches up.
 *
 * @throws ConfigError if an argument is invalid; FileError; StoreError; MirrorError; Interrupted
 */
export async function runMirror(url: string, options: MirrorCommandOptions): Promise<void> {
  const { tokenFile, database, once, restart, keepChanges, keepChangesBytes } = options
  const stop = new AbortController()
  const source = openMirrored(url, tokenFile, stop.signal)
  let progress: ProgressDisplay | undefined
  const printLine = (line: string) => {
    const printed = `plant-store: ${escapeControlCharacters(line)}`
    if (progress === undefined) process.stderr.write(`${printed}\n`)
    else progress.printLine(printed)
  }
  const endProgress = () => {
    progress?.end()
    progress = undefined
  }
  let store: Store | undefined
  const openOnce = shareResult(async () => {
    store = await openAvailable({
      database,
      lockTimeout: defaultConfig().lockTimeout,
      retention: { age: keepChanges, bytes: keepChangesBytes },
      onProblem: printLine,
    })
    return store
  }, Number.POSITIVE_INFINITY)
  const interrupt = (exitCode = 0) => stop.abort(new Interrupted(exitCode, INTERRUPTED))
  onStopSignal(interrupt)
  onNpmExit(interrupt)
  let isCaughtUp = false
  try {
    await mirror({
      source,
      // The first call opens the store, and is repeated until the database is available.
      store: {
        readRestriction: async () => (await openOnce()).readRestriction(),
        restrict: async (step) => (await openOnce()).restrict(step),
        list: async (request) => (await openOnce()).list(request),
      },
      once,
      restart,
      signal: stop.signal,
      report: {
        copied(plants) {
          progress ??= startProgress({ what: 'copy', unit: 'plants' })
          progress.update(plants)
        },
        behind(reason) {
          isCaughtUp = false
          printLine(`behind ${url}: ${reason}`)
        },
        caughtUp() {
          isCaughtUp = true
          endProgress()
          process.stdout.write(`caught up with ${url} in ${describeDatabase(database)}\n`)
        },
      },
    })
  } finally {
    endProgress()
    await store?.close()
  }
  if (once && !isCaughtUp) stop.signal.throwIfAborted()
}

/** Waiting does not help: the server rejects the role or the password, or does not have the database. */
const PERMANENT = /^(28|3D)/

/**
 * Opens a store.
 *
 * @throws StoreUnavailable if it may succeed later; StoreError
 */
async function openAvailable(options: StoreOptions): Promise<Store> {
  try {
    return await openStore(options)
  } catch (error) {
    const { cause } = Object(error)
    const isTemporary = cause instanceof StoreUnavailable && !PERMANENT.test(cause.detail)
    throw isTemporary ? cause : error
  }
}
