import { createPlantsLimits } from '../core/generated/limits.gen.ts'
import { keysOf } from '../core/known.ts'
import { BatchError, PlantStoreError } from './errors.ts'
import { toJson } from './json.ts'
import type { ChangeCounts } from './plants.ts'
import { checkId } from './requests.ts'

/** The contract's limit on the number of plants or changes in a request. */
const ITEMS_MAX = createPlantsLimits.body.maxItems

/** The service's default limit on the size of a request. */
const BYTES_MAX = 2 ** 20

/** The list affects too much, or a proxy allows less than the service. Nothing was stored (RFC 9110 §15.5.14). */
const CONTENT_TOO_LARGE = 413

export const NO_COUNTS: ChangeCounts = { created: 0, changed: 0, removed: 0, unchanged: 0 }

/** A plant or a change. */
interface Item {
  readonly id: bigint
}

/** Consecutive items that fit into one request. */
interface Part {
  /** The index of the first item. */
  readonly start: number
  /** Each item as JSON. */
  readonly items: readonly string[]
}

/** Splits a list into parts. An item that exceeds the size limit is a part of its own. */
function* split(list: readonly Item[]): Generator<Part, void> {
  let start = 0
  let items: string[] = []
  let bytes = 0
  for (const [index, each] of list.entries()) {
    const item = toJson(each)
    const added = encoder.encode(item).length + 1
    if (items.length === ITEMS_MAX || (items.length > 0 && bytes + added >= BYTES_MAX)) {
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
 * Sends a list in parts, one after the other, and adds up their results. A part that is refused as too large is halved.
 *
 * @param send sends the body of a request, with the items from `start` to before `end`
 * @throws TypeError for an id that is not a bigint, before anything is sent
 * @throws BatchError if a part fails; later ones are not sent
 * @throws the abort reason of `signal`
 */
export async function sendInParts(
  noun: 'plant' | 'change',
  list: readonly Item[],
  send: (json: string, start: number, end: number) => Promise<ChangeCounts>,
  signal?: AbortSignal,
): Promise<ChangeCounts> {
  for (const { id } of list) checkId(id)
  const counts = { ...NO_COUNTS }
  const sendPart = async ({ start, items }: Part): Promise<void> => {
    const { length } = items
    const end = start + length
    try {
      const added = await send(`[${items}]`, start, end)
      for (const name of keysOf(counts)) counts[name] += added[name]
    } catch (cause) {
      signal?.throwIfAborted()
      if (!(isTooLarge(cause) && length > 1)) {
        throw new BatchError({ noun, start, end, counts }, { cause })
      }
      const middle = Math.ceil(length / 2)
      await sendPart({ start, items: items.slice(0, middle) })
      await sendPart({ start: start + middle, items: items.slice(middle) })
    }
  }
  for (const part of split(list)) await sendPart(part)
  return counts
}

function isTooLarge(error: unknown): boolean {
  return error instanceof PlantStoreError && error.status === CONTENT_TOO_LARGE
}
