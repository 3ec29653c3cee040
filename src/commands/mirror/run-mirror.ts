import { propertiesOf } from '../../../core/known.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { shareResult } from '../../../core/time/shared-result.ts'
import { readRestriction, restrict } from '../../../service/restriction.ts'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { defaultConfig } from '../../config/config.ts'
import { loadExtension } from '../../config/own-fields-file.ts'
import { type MirrorOptions, mirror } from '../../mirror/mirror.ts'
import { adoptFields } from '../../start/field-adoption.ts'
import { describeDatabase, openStore } from '../../stores/engines.ts'
import type { StoreOptions } from '../../stores/shared/engine.ts'
import type { Store } from '../../stores/shared/store.ts'
import { declaredFields, readStoredFields } from '../../stores/shared/stored-fields.ts'
import { escapeControlCharacters } from '../../system/control-characters.ts'
import { Interrupted } from '../../system/user-errors.ts'
import { announce } from '../console/output.ts'
import { type ProgressDisplay, startProgress } from '../console/progress.ts'
import { onNpmExit, onStopSignal } from '../console/signals.ts'
import { prepareSource } from './source-access.ts'

export interface MirrorCommandOptions extends Pick<MirrorOptions, 'once' | 'restart'> {
  readonly tokenFile?: string
  /** An overlay with the own fields of the mirror. By default, those of its database. */
  readonly contract?: string
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
  const { tokenFile, contract, database, once, restart, keepChanges, keepChangesBytes } = options
  const stop = new AbortController()
  const openSource = prepareSource(url, tokenFile, { signal: stop.signal })
  const declared = (await loadExtension(contract))?.fields
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
    store ??= await openAvailable({
      database,
      readsIncomplete: true,
      lockTimeout: defaultConfig().lockTimeout,
      retention: { age: keepChanges, bytes: keepChangesBytes },
      onProblem: printLine,
    })
    return { store, source: openSource(await prepareFields(store, declared, printLine)) }
  }, Number.POSITIVE_INFINITY)
  const interrupt = (exitCode = 0) => stop.abort(new Interrupted(exitCode, INTERRUPTED))
  onStopSignal(interrupt)
  onNpmExit(interrupt)
  let isCaughtUp = false
  try {
    await mirror({
      // The first call opens the store, and is repeated until the database is available.
      source: {
        url,
        readPlants: async (after) => (await openOnce()).source.readPlants(after),
        readChanges: async (after, wait) => (await openOnce()).source.readChanges(after, wait),
      },
      store: {
        readRestriction: async () => readRestriction((await openOnce()).store),
        restrict: async (step) => restrict((await openOnce()).store, step),
        list: async (request) => (await openOnce()).store.list(request),
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
          announce(`caught up with ${url} in ${describeDatabase(database)}\n`)
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
    const { cause } = propertiesOf(error)
    const isTemporary = cause instanceof StoreUnavailable && !PERMANENT.test(cause.detail)
    throw isTemporary ? cause : error
  }
}

/**
 * Resolves to the own fields of a mirror, after making those that are declared the fields of its database. The database
 * keeps its own if it cannot become a mirror, for example because it is another one by mistake.
 *
 * @throws StoreError, StoreUnavailable
 */
async function prepareFields(
  store: Store,
  declared: readonly OwnField[] | undefined,
  printLine: (line: string) => void,
): Promise<readonly OwnField[]> {
  if (declared !== undefined && (await canMirror(store))) {
    const hidden = await adoptFields(store, declared, { hide: false })
    if (hidden.length > 0) {
      printLine(
        `these fields are not in --contract, so their values are kept and hidden: ${hidden.join(', ')}`,
      )
    }
  }
  return declaredFields(await readStoredFields(store))
}

async function canMirror(store: Store): Promise<boolean> {
  const restriction = await readRestriction(store)
  if (restriction !== undefined) return restriction !== 'frozen'
  const { json } = await store.list({ limit: 1 })
  return json === '[]'
}
