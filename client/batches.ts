import { createPlantsLimits } from '../core/generated/limits.gen.ts'
import { BatchError, ResponseError } from './errors.ts'
import { toJson } from './json.ts'
import type { NewPlant } from './plants.ts'
import type { BatchResult } from './types.ts'

/** The contract's limit on the number of plants in a request. */
const PLANTS_MAX = createPlantsLimits.body.maxItems

/** The service's default limit on the size of a request. */
const BYTES_MAX = 2 ** 20

/** The list affects too much, or a proxy allows less than the service. Nothing was stored (RFC 9110 §15.5.14). */
const CONTENT_TOO_LARGE = 413

/** Consecutive plants that fit into one request. */
interface Part {
  /** The index of the first plant. */
  readonly start: number
  /** Each plant as JSON. */
  readonly items: readonly string[]
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
      yield { start, items }
      start = index
      items = []
      bytes = 0
    }
    items.push(item)
    bytes += added
  }
  if (items.length > 0) yield { start, items }
}

const encoder = new TextEncoder()

/**
 * Sends parts one after the other, and adds up their results. A part that is refused as too large is halved.
 *
 * @param send sends the body of a request
 * @throws BatchError if a part fails; later ones are not sent
 * @throws the abort reason of `signal`
 */
export async function sendParts(
  parts: Iterable<Part>,
  send: (json: string) => Promise<BatchResult>,
  signal?: AbortSignal,
): Promise<BatchResult> {
  let created = 0
  let replayed = 0
  const sendPart = async ({ start, items }: Part): Promise<void> => {
    try {
      const result = await send(`[${items}]`)
      created += result.created
      replayed += result.replayed
    } catch (cause) {
      signal?.throwIfAborted()
      const { length } = items
      if (!(isTooLarge(cause) && length > 1)) {
        throw new BatchError({ start, end: start + length, created, replayed }, { cause })
      }
      const middle = Math.ceil(length / 2)
      await sendPart({ start, items: items.slice(0, middle) })
      await sendPart({ start: start + middle, items: items.slice(middle) })
    }
  }
  for (const part of parts) await sendPart(part)
  return { created, replayed }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ResponseError && error.status === CONTENT_TOO_LARGE
}
