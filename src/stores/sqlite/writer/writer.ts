import type { Database } from 'better-sqlite3'
import { sumSizes } from '../../shared/group-commit.ts'
import { preparePrune } from '../feed/change-pruner.ts'
import { MARK_END } from '../feed/change-triggers.ts'
import type { OpenFile } from '../file/file-identity.ts'
import { mapError } from '../file/sqlite-errors.ts'
import { preparePlantChanges } from './plant-changes.ts'
import { prepareRefusal, prepareRestrictionChange } from './restriction-changes.ts'
import { prepareSettingChange } from './setting-change.ts'
import type { SqliteMetrics } from './sqlite-metrics.ts'
import { prepareTokenChanges } from './token-changes.ts'
import { prepareWebhookChanges } from './webhook-changes.ts'
import { measureCall, type WriteCall, type WriteResult } from './write-call.ts'

/** Makes changes. The changes of one call share a transaction, and so one wait for the disk. */
export class Writer {
  readonly #db: Database
  readonly #file: OpenFile | undefined
  readonly #mapError: (error: unknown) => unknown
  readonly #commit: (changes: readonly WriteCall[]) => WriteResult[]

  /**
   * @param file of the connection; undefined in memory
   * @param metrics measures the commits
   */
  constructor(db: Database, file?: OpenFile, metrics?: SqliteMetrics) {
    this.#db = db
    this.#file = file
    this.#mapError = file?.mapError ?? mapError
    const make = prepareWrites(db)
    const markEnd = db.prepare(MARK_END)
    const mapRefusal = prepareRefusal(db)
    const makeAll = (changes: readonly WriteCall[]) => {
      try {
        // No change can follow a step that begins a restriction, so steps are last.
        const results = changes.map((change) =>
          change.type === 'restrict' ? undefined : make(change),
        )
        const all = changes.map((change, index) =>
          change.type === 'restrict' ? make(change) : results[index],
        )
        markEnd.run()
        return all
      } catch (error) {
        throw mapRefusal(error)
      }
    }
    this.#commit =
      metrics === undefined
        ? db.transaction(makeAll).immediate
        : prepareMeasuredCommit(db, makeAll, metrics)
  }

  /**
   * Makes all changes or none: in order, except that steps of a restriction are last. Returns when they are on disk.
   *
   * @throws StoreUnavailable if the changes cannot be made now
   */
  commit(changes: readonly WriteCall[]): WriteResult[] {
    this.#file?.assertSound()
    try {
      return this.#commit(changes)
    } catch (error) {
      throw this.#mapError(error)
    }
  }

  close(): void {
    this.#db.close()
  }
}

function prepareMeasuredCommit(
  db: Database,
  makeAll: (changes: readonly WriteCall[]) => WriteResult[],
  { duration, changes: counts, sync }: SqliteMetrics,
): (changes: readonly WriteCall[]) => WriteResult[] {
  let made = 0
  const commit = db.transaction((changes: readonly WriteCall[]) => {
    const results = makeAll(changes)
    made = performance.now()
    return results
  }).immediate
  return (changes) => {
    const begun = performance.now()
    const results = commit(changes)
    const committed = performance.now()
    duration.observe((committed - begun) / 1000)
    sync.observe((committed - made) / 1000)
    counts.observe(sumSizes(changes.map(measureCall)).changes)
    return results
  }
}

/** Returns a function that makes a change. The caller runs it in a transaction. */
function prepareWrites(db: Database): (call: WriteCall) => WriteResult {
  const plants = preparePlantChanges(db)
  const restrict = prepareRestrictionChange(db, plants.apply)
  const pruneChanges = preparePrune(db)
  const replaceSetting = prepareSettingChange(db)
  const tokens = prepareTokenChanges(db)
  const webhooks = prepareWebhookChanges(db)
  return (call) => {
    switch (call.type) {
      case 'create':
        return plants.create(call)
      case 'update':
        return plants.update(call)
      case 'remove':
        return plants.remove(call)
      case 'apply':
        return plants.apply(call)
      case 'restrict':
        return restrict(call.step)
      case 'pruneChanges':
        return pruneChanges(call.limits)
      case 'replaceSetting':
        return replaceSetting(call.name, call.expected, call.next)
      case 'addToken':
        return tokens.add(call.token)
      case 'addFirstToken':
        return tokens.addFirst(call.token)
      case 'removeToken':
        return tokens.remove(call.name)
      case 'noteTokenUse':
        return tokens.noteUse(call.name, call.at)
      case 'addWebhook':
        return webhooks.add(call.webhook)
      case 'removeWebhook':
        return webhooks.remove(call.name, call.owner)
      case 'rotateWebhookSecret':
        return webhooks.rotateSecret(call.name, call.secret, call.previousUntil)
      case 'resumeWebhook':
        return webhooks.resume(call.name, call.fromOldest)
      case 'leaseWebhooks':
        return webhooks.lease(call.owner)
      case 'releaseWebhooks':
        return webhooks.release(call.owner)
      case 'saveWebhookProgress':
        return webhooks.saveProgress(call.owner, call.saved)
    }
  }
}
