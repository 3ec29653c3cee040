import { INT64_MIN } from '../core/json/int64.ts'
import { type PlantChange, type PlantStore, StoreUnavailable } from './store/plant-store.ts'
import type { GuardRefusal, RecordStore } from './store/record-store.ts'

/**
 * Why requests cannot use the plants of a database as usual:
 * - `frozen`: the operator has stopped changes, to move the plants to another database;
 * - a mirror: the plants are those of another service, and only the process that follows it changes them.
 *
 * Tokens and webhooks can be changed. A mirror delivers to no webhook.
 */
export type Restriction = 'frozen' | MirrorRestriction

/** How far a database has followed another service. */
export interface MirrorRestriction {
  /** The base URL of the service. */
  readonly source: string
  /** The changes of the source up to this cursor have been applied. */
  readonly cursor: string
  /** The first id that has not been copied yet. Undefined once all plants are copied. */
  readonly copyFrom?: bigint | undefined
  /**
   * A cursor of the source. Until the changes up to it are applied, copied plants can be newer than others. Undefined
   * before all plants are copied, and once the copy is consistent.
   */
  readonly consistentAt?: string | undefined
}

/**
 * How much stored text the changes of a step may affect, as for LIST_TEXT_MAX: more than any transaction of a service, so
 * that a mirror can apply each as a whole.
 */
export const STEP_TEXT_MAX = 2 ** 25

/** A change of the restriction, together with changes to the plants. */
export interface RestrictionStep {
  /** The restriction before the step. */
  readonly expected: Restriction | undefined
  /**
   * The restriction after the step. If it is a mirror with the `copyFrom` INT64_MIN, a copy begins, and so does a new
   * change feed: the cursors of the previous one expire, although the new one can still contain its changes. Such a step
   * changes no plants.
   */
  readonly next: Restriction | undefined
  /** Changes to the plants, made as by PlantStore.apply with `each`. */
  readonly changes?: readonly PlantChange[]
  /** How many changes must create a plant, and how many remove one. By default, any number. */
  readonly effect?: { readonly created: number; readonly removed: number }
}

/**
 * The result of a step. Unless it is `done`, nothing has changed:
 * - `unexpected`: the restriction was not the expected one;
 * - `not-new`: a database that was restricted before cannot become a mirror. Otherwise, a mirroring process that is
 *   restarted automatically would make a promoted database without plants a mirror again;
 * - `not-empty`: a database with plants cannot become a mirror;
 * - `diverged`: the effect was not the required one;
 * - `too-large`: several changes affect more than STEP_TEXT_MAX.
 */
export type RestrictionResult = 'done' | GuardRefusal | 'too-large' | 'not-new'

/**
 * The stores that hold a restriction. While there is one, the database refuses every other change to plants, also one
 * that would have no effect. See PlantStore for reads.
 */
export type RestrictionReader = Pick<RecordStore, 'findRecord'>
export type RestrictionStore = RestrictionReader & Pick<PlantStore, 'apply'>

/** A restriction in JSON: ids exceed the integers of JSON. */
type RestrictionValue = 'frozen' | 'ended' | Stored<MirrorRestriction>
type Stored<Mirror> = Omit<Mirror, 'copyFrom'> & { readonly copyFrom?: string | undefined }

/** The record of the kind `restriction`. There is none if the database has never been restricted. */
const KEY = 'restriction'

/**
 * Resolves to the restriction, or undefined if there is none.
 *
 * @throws StoreUnavailable
 */
export async function readRestriction(store: RestrictionReader): Promise<Restriction | undefined> {
  return parseRestriction((await store.findRecord('restriction', { key: KEY }))?.value)
}

/**
 * Makes a step in one transaction, as durably as a change to a plant. A mirror applies each page of changes as a step.
 * When a step that begins a restriction resolves, no other change is in flight.
 *
 * @throws StoreUnavailable
 */
export async function restrict(
  store: RestrictionStore,
  { expected, next, changes = [], effect }: RestrictionStep,
): Promise<RestrictionResult> {
  const stored = (await store.findRecord('restriction', { key: KEY }))?.value
  if (formatRestriction(parseRestriction(stored)) !== formatRestriction(expected)) {
    return 'unexpected'
  }
  const beginsMirror = expected === undefined && typeof next === 'object'
  if (beginsMirror && stored !== undefined) return 'not-new'
  const record = { kind: 'restriction', key: KEY } as const
  const results = await store.apply(changes, {
    record: { ...record, expected: stored, next: formatRestriction(next) },
    textMax: STEP_TEXT_MAX,
    restricts: restricts(expected, next),
    mustBeEmpty: beginsMirror,
    renewsFeed: typeof next === 'object' && next.copyFrom === INT64_MIN,
    effect,
  })
  return typeof results === 'string' ? results : 'done'
}

function restricts(expected: Restriction | undefined, next: Restriction | undefined) {
  if ((expected === undefined) === (next === undefined)) return undefined
  return expected === undefined ? 'begin' : 'end'
}

/** @param value of the record */
export function parseRestriction(value: string | undefined): Restriction | undefined {
  if (value === undefined) return undefined
  const stored = JSON.parse(value) as RestrictionValue
  if (stored === 'ended') return undefined
  if (stored === 'frozen') return stored
  const { copyFrom, ...mirror } = stored
  return copyFrom === undefined ? mirror : { ...mirror, copyFrom: BigInt(copyFrom) }
}

/** The same text for the same restriction. */
function formatRestriction(restriction: Restriction | undefined): string {
  if (typeof restriction !== 'object') return JSON.stringify(restriction ?? 'ended')
  const { source, cursor, copyFrom, consistentAt } = restriction
  return JSON.stringify({ source, cursor, copyFrom: copyFrom?.toString(), consistentAt })
}

/** Whether a mirror has the plants of its source as they were at one moment. Until then, it must not be read. */
export function isConsistent({ copyFrom, consistentAt }: MirrorRestriction): boolean {
  return copyFrom === undefined && consistentAt === undefined
}

/** Tells clients why they cannot change plants: a sentence without a capital and a full stop, like error messages. */
export function readOnlyReason(restriction: 'frozen' | Pick<MirrorRestriction, 'source'>): string {
  return restriction === 'frozen'
    ? 'changes are frozen while the plants move to another database'
    : `this service is a read-only mirror: send changes to ${restriction.source}`
}

/**
 * The error for a change that a restricted database refuses. Its detail tells the operator which command ends the
 * restriction.
 */
export function restrictedError(
  restriction: 'frozen' | Pick<MirrorRestriction, 'source'>,
): StoreUnavailable {
  const notice = readOnlyReason(restriction)
  const [reason, cause, command] =
    restriction === 'frozen'
      ? (['restricted', notice, 'unfreeze'] as const)
      : (['read-only', `it mirrors ${restriction.source}`, 'promote'] as const)
  // Ends with the command, so that an option can be appended.
  const detail = `${cause}; to end this, run plant-store ${command}`
  return new StoreUnavailable(reason, detail, notice)
}

/** The error for a read of an incomplete mirror. */
export function incompleteError({ source }: Pick<MirrorRestriction, 'source'>): StoreUnavailable {
  const notice = `it is still copying the plants of ${source}`
  return new StoreUnavailable('restricted', notice, notice)
}

/** @throws StoreUnavailable if the plants cannot be read, because the database is an incomplete mirror */
export function assertReadable(restriction: Restriction | undefined): void {
  if (typeof restriction === 'object' && !isConsistent(restriction)) {
    throw incompleteError(restriction)
  }
}
