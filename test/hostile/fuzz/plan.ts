import { TOKEN } from '../target.ts'
import { mutateGently } from './gentle-mutations.ts'
import { Random } from './random.ts'
import { serialize } from './request.ts'
import { mutateRoughly } from './rough-mutations.ts'
import { requestOf, validRequest } from './valid-requests.ts'

/** First id of the plants that must survive. No mutation produces ids in this range. */
const KEPT_IDS = 2n ** 61n

/** Requests per connection, at most. */
const PIPELINE_MAX = 50

/** One request of a pipeline. */
export interface Sent {
  /** Each character stands for a byte (latin1). */
  readonly bytes: string
  /** Method and path. Undefined for the first request whose framing is broken, and all later ones. */
  readonly known?: { readonly method: string; readonly path: string }
  /** The plant that a 200 acknowledges, if the request is not mutated. */
  readonly plant?: { readonly id: bigint; readonly name: string }
}

/** Everything that a connection does. */
export interface Plan {
  readonly requests: readonly Sent[]
  /** Varies within 127.0.0.0/8, because failed authentication is limited per address. */
  readonly localAddress: string
  /** `in turn`: each request after the response to the one before. The others are pipelined. */
  readonly writing: 'in turn' | 'whole' | 'pieces' | 'slow'
  /** Where the bytes are cut into pieces, as fractions of the total length. */
  readonly cuts: readonly number[]
  readonly reading: 'at once' | 'slow' | 'never'
  readonly ending: 'half-close' | 'wait' | 'abandon' | 'reset'
}

/** Derives the plan of a connection from the seed and its number alone, so that it can be replayed. */
export function planOf(seed: number, number: number): Plan {
  const random = new Random(seed, number)
  const cuts = Array.from({ length: 1 + random.below(10) }, () => random.below(1000) / 1000)
  const host = () => 1 + random.below(250)
  return {
    requests: requestsOf(number, random),
    localAddress: random.oneIn(2) ? '127.0.0.1' : `127.${host()}.${host()}.${host()}`,
    // Of pipelined requests, the service serves only the first.
    writing: random.oneIn(4)
      ? random.pick(['whole', random.oneIn(7) ? 'slow' : 'pieces'])
      : 'in turn',
    cuts: cuts.toSorted(),
    reading: random.oneIn(20) ? random.pick(['slow', 'slow', 'slow', 'never']) : 'at once',
    ending: random.oneIn(3) ? random.pick(['wait', 'wait', 'abandon', 'reset']) : 'half-close',
  }
}

function requestsOf(number: number, random: Random): Sent[] {
  const count = 1 + random.below(random.pick([1, 1, 2, 5, 10, PIPELINE_MAX]))
  const requests: Sent[] = []
  const keep = () => requests.push(keptCreate(number, requests.length))
  if (random.oneIn(3)) keep()
  // A broken request usually ends the connection, so most pipelines break only at their end.
  const firstRough = random.oneIn(3) ? random.below(count) : count - 1
  const isGentle = random.oneIn(3)
  for (let index = 0; index < count; index++) {
    const request = validRequest(random)
    if (isGentle || index < firstRough) {
      mutateGently(request, random)
      const { method, target: path } = request
      requests.push({ bytes: serialize(request), known: { method, path } })
      if (random.oneIn(20)) keep()
    } else {
      requests.push({ bytes: mutateRoughly(request, random) })
    }
  }
  return requests
}

function keptCreate(connection: number, index: number): Sent {
  const id = KEPT_IDS + BigInt(connection) * 1024n + BigInt(index)
  const plant = { id, name: `kept ${id}` }
  const known = { method: 'POST', path: '/plants' }
  const request = requestOf({
    method: known.method,
    target: known.path,
    headers: [
      ['Host', 'x'],
      ['Authorization', `Bearer ${TOKEN}`],
      ['Content-Type', 'application/json'],
    ],
    body: `{"id":${id},"name":"${plant.name}"}`,
  })
  return { bytes: serialize(request), known, plant }
}
