import {
  type ChangeResult,
  type PlantChange,
  type PlantStore,
  StoreUnavailable,
} from './plant-store.ts'

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
 * - `too-large`: it has several changes, which affect too much text for one transaction.
 */
export type RestrictionResult =
  | 'done'
  | 'unexpected'
  | 'not-new'
  | 'not-empty'
  | 'diverged'
  | 'too-large'

/**
 * The restriction of a database. While there is one, the database itself refuses every other change to plants, of any
 * process, with StoreUnavailable.
 */
export interface RestrictionStore {
  /** Resolves to the restriction, or undefined if there is none. */
  readRestriction(): Promise<Restriction | undefined>

  /**
   * Makes a step in one transaction, as durably as a change to a plant. A mirror applies each page of changes as a step.
   * When a step that begins a restriction resolves, no other change is in flight.
   *
   * @throws StoreUnavailable
   */
  restrict(step: RestrictionStep): Promise<RestrictionResult>
}

/** The part that requests need. */
export type RestrictionReader = Pick<RestrictionStore, 'readRestriction'>

/** Whether a mirror has the plants of its source as they were at one moment. Until then, it must not be read. */
export function isConsistent({ copyFrom, consistentAt }: MirrorRestriction): boolean {
  return copyFrom === undefined && consistentAt === undefined
}

/** Whether a step would make a database with plants of its own a mirror. */
export function beginsMirror({ expected, next }: RestrictionStep): boolean {
  return expected === undefined && typeof next === 'object'
}

/** Whether the changes of a step had the required effect. */
export function hasEffect({ effect }: RestrictionStep, results: readonly ChangeResult[]): boolean {
  if (effect === undefined) return true
  const count = (result: ChangeResult) => results.filter((each) => each === result).length
  return count('created') === effect.created && count('removed') === effect.removed
}

/** Tells clients why they cannot change plants: a sentence without a capital and a full stop, like error messages. */
export function readOnlyReason(restriction: 'frozen' | Pick<MirrorRestriction, 'source'>): string {
  return restriction === 'frozen'
    ? 'changes are frozen while the plants move to another database'
    : `this service is a read-only mirror: send changes to ${restriction.source}`
}

/** @throws StoreUnavailable if the plants cannot be read, because the database is an incomplete mirror */
export function assertReadable(restriction: Restriction | undefined): void {
  if (typeof restriction !== 'object' || isConsistent(restriction)) return
  const notice = `it is still copying the plants of ${restriction.source}`
  throw new StoreUnavailable('restricted', notice, notice)
}

/**
 * Resolves if requests can read the plants.
 *
 * @throws StoreUnavailable
 */
export async function checkReadable(
  store: Pick<PlantStore, 'ping'> & RestrictionReader,
): Promise<void> {
  await store.ping()
  assertReadable(await store.readRestriction())
}
