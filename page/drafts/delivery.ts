import {
  type NewPlant,
  type Plant,
  type PlantPatch,
  type PlantStoreClient,
  type StoredPlant,
  type TaggedPlant,
  UnknownOutcomeError,
} from '../../client/client.ts'
import { hasCondition } from '../../client/errors.ts'
import { ownValue } from '../../contract/members.ts'
import { retry } from '../../time/retry.ts'
import { contentMembers, hasSameContent } from '../model/members.ts'

/** What a person wants to become of a plant. Undefined stands for no plant. */
export interface Intent {
  readonly id: bigint
  /** What the person has seen. */
  readonly before: Plant | undefined
  readonly after: Plant | undefined
}

/** The intent was carried out, or the plant is different from what the person has seen. */
export type SaveResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'conflict'; readonly stored: StoredPlant | undefined }

/** How often a plant can change between looking at it and changing it. */
const ATTEMPTS_MAX = 4

/**
 * Carries out an intent, unless the plant has changed since the person saw it. Can be repeated after any error: it looks
 * at the plant first, so that it also recognizes what an earlier attempt has done.
 *
 * @param client one that cannot read can only add plants
 * @throws what the client throws
 */
export async function deliver(
  client: PlantStoreClient,
  intent: Intent,
  canRead: boolean,
): Promise<SaveResult> {
  const { id, before, after } = intent
  const carryOut = () =>
    before === undefined && after !== undefined
      ? add(client, { ...after, id }, canRead)
      : change(client, intent)
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
    return { kind: 'done' }
  } catch (error) {
    if (!canRead || !hasCondition(error, 'plant-exists')) throw error
    const found = await findPlant(client, plant.id)
    if (found === undefined) throw error
    return { kind: 'conflict', stored: found.plant }
  }
}

async function change(
  client: PlantStoreClient,
  { id, before, after }: Intent,
): Promise<SaveResult> {
  const found = await findPlant(client, id)
  if (hasSameContent(found?.plant, after)) return { kind: 'done' }
  if (found === undefined || !hasSameContent(found.plant, before)) {
    return { kind: 'conflict', stored: found?.plant }
  }
  const options = { ifMatch: found.etag }
  if (after === undefined) await client.deletePlant(id, options)
  else await client.updatePlant(id, patchBetween(found.plant, after), options)
  return { kind: 'done' }
}

/**
 * The patch that turns one plant into another. Unlike a replacement, it keeps members that the service has gained since
 * the page was loaded.
 */
function patchBetween(one: Plant, other: Plant): PlantPatch {
  const changed = contentMembers.filter(({ name }) => ownValue(one, name) !== ownValue(other, name))
  return Object.fromEntries(changed.map(({ name }) => [name, ownValue(other, name) ?? null]))
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
