import {
  type NewPlant,
  type Plant,
  type PlantStoreClient,
  type StoredPlant,
  type TaggedPlant,
  UnknownOutcomeError,
} from '../../client/client.ts'
import { hasCondition } from '../../client/errors.ts'
import { ownValue } from '../../contract/members.ts'
import { retry } from '../../time/retry.ts'
import { hasSameContent, pickContent } from '../model/members.ts'
import { compare, replaceMembers } from './merge.ts'

/** What a person wants to become of a plant. Undefined stands for no plant. */
export interface Intent {
  readonly id: bigint
  /** What the person has seen. */
  readonly before: Plant | undefined
  readonly after: Plant | undefined
}

/** The intent was carried out, and this is stored now, or somebody else has changed the same. */
export type SaveResult =
  | { readonly kind: 'done'; readonly plant: Plant | undefined }
  | { readonly kind: 'conflict'; readonly stored: StoredPlant | undefined }

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
  client: PlantStoreClient,
  { id, before, after }: Intent,
  canRead: boolean,
): Promise<SaveResult> {
  const carryOut = () => {
    if (after === undefined) return remove(client, id, before)
    if (before === undefined) return add(client, { ...after, id }, canRead)
    return edit(client, id, before, after)
  }
  const delayAfter = (error: unknown) => (canRead && isRace(error) ? 0 : undefined)
  return retry(carryOut, { attempts: ATTEMPTS_MAX, delayMs: 0, delayAfter })
}

async function add(
  client: PlantStoreClient,
  plant: NewPlant,
  canRead: boolean,
): Promise<SaveResult> {
  try {
    await client.createPlant(plant)
    return { kind: 'done', plant: pickContent(plant) }
  } catch (error) {
    if (!canRead || !hasCondition(error, 'plant-exists')) throw error
    const found = await findPlant(client, plant.id)
    if (found === undefined) throw error
    return { kind: 'conflict', stored: found.plant }
  }
}

async function edit(
  client: PlantStoreClient,
  id: bigint,
  before: Plant,
  after: Plant,
): Promise<SaveResult> {
  const found = await findPlant(client, id)
  if (found === undefined) return { kind: 'conflict', stored: undefined }
  const { plant: stored, etag: ifMatch } = found
  const { changed, contested } = compare(before, after, stored)
  if (contested.length > 0) return { kind: 'conflict', stored }
  // Unlike a replacement, it keeps members that the service has gained since the page was loaded.
  const patch = changed.map(({ name }) => [name, ownValue(after, name) ?? null])
  if (changed.length > 0) await client.updatePlant(id, Object.fromEntries(patch), { ifMatch })
  return { kind: 'done', plant: replaceMembers(stored, changed, after) }
}

async function remove(
  client: PlantStoreClient,
  id: bigint,
  before: Plant | undefined,
): Promise<SaveResult> {
  const found = await findPlant(client, id)
  if (found !== undefined) {
    if (!hasSameContent(found.plant, before)) return { kind: 'conflict', stored: found.plant }
    await client.deletePlant(id, { ifMatch: found.etag })
  }
  return { kind: 'done', plant: undefined }
}

async function findPlant(client: PlantStoreClient, id: bigint): Promise<TaggedPlant | undefined> {
  try {
    return await client.getPlant(id)
  } catch (error) {
    if (hasCondition(error, 'plant-not-found')) return undefined
    throw error
  }
}

/** Whether the plant has changed, or may have, between looking at it and changing it. */
function isRace(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return true
  const races = ['plant-exists', 'plant-changed', 'plant-not-found'] as const
  return races.some((condition) => hasCondition(error, condition))
}
