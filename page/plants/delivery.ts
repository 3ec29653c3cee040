import {
  type Plant,
  type PlantStoreClient,
  PlantStoreError,
  type StoredPlant,
  type TaggedPlant,
  UnknownOutcomeError,
} from '../../client/client.ts'
import { isSame } from './plant-list.ts'

/** What a person wants to become of a plant. Undefined stands for no plant. */
export interface Intent {
  readonly id: bigint
  /** What the person has seen. */
  readonly before: Plant | undefined
  readonly after: Plant | undefined
}

/** The intent was carried out, or the plant is different from what the person has seen. */
export type Outcome =
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
  { id, before, after }: Intent,
  canRead: boolean,
): Promise<Outcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (before === undefined && after !== undefined) {
        await client.createPlant({ ...after, id })
        return { kind: 'done' }
      }
      const found = await findPlant(client, id)
      if (isSame(found?.plant, after)) return { kind: 'done' }
      if (found === undefined || !isSame(found.plant, before)) {
        return { kind: 'conflict', stored: found?.plant }
      }
      const options = { ifMatch: found.etag }
      if (after === undefined) await client.deletePlant(id, options)
      else await client.replacePlant(id, after, options)
      return { kind: 'done' }
    } catch (error) {
      if (has(error, 'plant-exists') && canRead) {
        const found = await findPlant(client, id)
        if (found !== undefined) return { kind: 'conflict', stored: found.plant }
      } else if (!isRace(error)) {
        throw error
      }
      if (attempt === ATTEMPTS_MAX) throw error
    }
  }
}

async function findPlant(client: PlantStoreClient, id: bigint): Promise<TaggedPlant | undefined> {
  try {
    return await client.getPlant(id)
  } catch (error) {
    if (has(error, 'plant-not-found')) return undefined
    throw error
  }
}

/** Whether the plant has changed, or may have, between looking at it and changing it. */
function isRace(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return true
  return has(error, 'plant-changed') || has(error, 'plant-not-found')
}

function has(error: unknown, condition: PlantStoreError['condition']): boolean {
  return error instanceof PlantStoreError && error.condition === condition
}
