import {
  type CallOptions,
  type NewPlant,
  type Plant,
  type PlantStoreClient,
  type StoredPlant,
  type TaggedPlant,
  UnknownOutcomeError,
} from '../../client/client.ts'
import { hasCondition } from '../../client/errors.ts'
import { retry } from '../../core/time/retries.ts'
import { hasSameContent, pickContent } from '../model/current-members.ts'
import { compare, replaceMembers, toPatch } from './merge.ts'

/** What a person wants to become of a plant. Undefined stands for no plant. */
export interface Intent {
  readonly id: bigint
  /** What the person has seen. */
  readonly before: Plant | undefined
  readonly after: Plant | undefined
}

/** The intent was carried out, and this is stored now, or somebody else has changed the same. */
export type SaveResult =
  | {
      readonly kind: 'done'
      readonly plant: Plant | undefined
      /** Takes it back. Undefined if nothing had to be changed, or perhaps not. */
      readonly undo?: Intent | undefined
    }
  | { readonly kind: 'conflict'; readonly stored: StoredPlant | undefined }

/** The intent that takes an intent back. */
export function reverse({ id, before, after }: Intent): Intent {
  return { id, before: after, after: before }
}

/** What deliveries need of the client. */
export type DeliveryClient = Pick<
  PlantStoreClient,
  'createPlant' | 'getPlant' | 'updatePlant' | 'deletePlant'
>

export interface DeliveryOptions extends CallOptions {
  /**
   * Whether an earlier delivery may have carried out the intent.
   *
   * @default false
   */
  readonly isUncertain?: boolean
}

/** How often a plant can change between looking at it and changing it. */
const ATTEMPTS_MAX = 4

/**
 * Carries out an intent, together with what others have changed since the person saw the plant, unless both have changed
 * the same member, or deleted the plant. Can be repeated after any error: it looks at the plant first, so that it also
 * recognizes what an earlier attempt has done.
 *
 * @param client one that cannot read can only add plants
 * @throws what the client throws
 */
export async function deliver(
  client: DeliveryClient,
  intent: Intent,
  canRead: boolean,
  { isUncertain: wasUncertain = false, ...options }: DeliveryOptions = {},
): Promise<SaveResult> {
  const { id, before, after } = intent
  /** Whether an attempt may have carried it out. */
  let isUncertain = wasUncertain
  const carryOut = () => {
    if (after === undefined) return remove(client, id, before, options)
    if (before === undefined) return add(client, { ...after, id }, canRead, options)
    return edit(client, id, before, after, options)
  }
  const delayAfter = (error: unknown) => {
    isUncertain ||= error instanceof UnknownOutcomeError
    return canRead && isRace(error) ? 0 : undefined
  }
  const result = await retry(carryOut, { attempts: ATTEMPTS_MAX, delayMs: 0, delayAfter })
  // Somebody else may have added the same plant.
  const isMine = isUncertain && before !== undefined
  return isMine && result.kind === 'done' ? { undo: reverse(intent), ...result } : result
}

async function add(
  client: DeliveryClient,
  plant: NewPlant,
  canRead: boolean,
  options: CallOptions,
): Promise<SaveResult> {
  try {
    await client.createPlant(plant, options)
    return { kind: 'done', plant: pickContent(plant) }
  } catch (error) {
    if (!canRead || !hasCondition(error, 'plant-exists')) throw error
    const found = await findPlant(client, plant.id, options)
    if (found === undefined) throw error
    return { kind: 'conflict', stored: found.plant }
  }
}

async function edit(
  client: DeliveryClient,
  id: bigint,
  before: Plant,
  after: Plant,
  options: CallOptions,
): Promise<SaveResult> {
  const found = await findPlant(client, id, options)
  if (found === undefined) return { kind: 'conflict', stored: undefined }
  const { plant: stored, etag: ifMatch } = found
  const { changed, contested } = compare(before, after, stored)
  if (contested.length > 0) return { kind: 'conflict', stored }
  const plant = replaceMembers(stored, changed, after)
  if (changed.length === 0) return { kind: 'done', plant }
  await client.updatePlant(id, toPatch(changed, after), { ...options, ifMatch })
  return { kind: 'done', plant, undo: { id, before: plant, after: pickContent(stored) } }
}

async function remove(
  client: DeliveryClient,
  id: bigint,
  before: Plant | undefined,
  options: CallOptions,
): Promise<SaveResult> {
  const found = await findPlant(client, id, options)
  if (found === undefined) return { kind: 'done', plant: undefined }
  const { plant: stored, etag: ifMatch } = found
  if (!hasSameContent(stored, before)) return { kind: 'conflict', stored }
  await client.deletePlant(id, { ...options, ifMatch })
  const undo = { id, before: undefined, after: pickContent(stored) }
  return { kind: 'done', plant: undefined, undo }
}

async function findPlant(
  client: DeliveryClient,
  id: bigint,
  options: CallOptions,
): Promise<TaggedPlant | undefined> {
  try {
    return await client.getPlant(id, options)
  } catch (error) {
    if (hasCondition(error, 'plant-not-found')) return undefined
    throw error
  }
}

/** Whether a plant has changed, or may have, between looking at it and changing it. */
export function isRace(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return true
  const races = ['plant-exists', 'plant-changed', 'plant-not-found'] as const
  return races.some((condition) => hasCondition(error, condition))
}
