import { limits } from '../contract/limits.gen.ts'
import { BatchError } from './errors.ts'
import { toJson } from './json.ts'
import type { NewPlant } from './plants.ts'
import type { BatchResult } from './types.ts'

/** The contract's limit on the number of plants in a request. */
const PLANTS_MAX = limits.createPlants.body.maxItems

/** The service's default limit on the size of a request. */
const BYTES_MAX = 2 ** 20

/** Consecutive plants that fit into one request. */
export interface Part {
  /** The index of the first plant. */
  readonly start: number
  /** The index after the last plant. */
  readonly end: number
  /** The body of the request. */
  readonly json: string
}

/** Splits plants into parts. A plant that exceeds the size limit is a part of its own. */
export function* splitPlants(plants: readonly NewPlant[]): Generator<Part, void> {
  let start = 0
  let items: string[] = []
  let bytes = 0
  for (const [index, plant] of plants.entries()) {
    const item = toJson(plant)
    const added = encoder.encode(item).length + 1
    if (items.length === PLANTS_MAX || (items.length > 0 && bytes + added >= BYTES_MAX)) {
      yield { start, end: index, json: `[${items}]` }
      start = index
      items = []
      bytes = 0
    }
    items.push(item)
    bytes += added
  }
  if (items.length > 0) yield { start, end: plants.length, json: `[${items}]` }
}

const encoder = new TextEncoder()

/**
 * Sends parts one after the other, and adds up their results.
 *
 * @throws BatchError if a part fails; later ones are not sent
 * @throws the abort reason of `signal`
 */
export async function sendParts(
  parts: Iterable<Part>,
  send: (part: Part) => Promise<BatchResult>,
  signal?: AbortSignal,
): Promise<BatchResult> {
  let created = 0
  let replayed = 0
  for (const part of parts) {
    try {
      const result = await send(part)
      created += result.created
      replayed += result.replayed
    } catch (cause) {
      signal?.throwIfAborted()
      throw new BatchError({ start: part.start, end: part.end, created, replayed }, { cause })
    }
  }
  return { created, replayed }
}
