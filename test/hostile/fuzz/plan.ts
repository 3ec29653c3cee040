import { TOKEN } from '../target.ts'
import { mutateGently } from './gentle-mutations.ts'
import { Random } from './random.ts'
import { bytesOf } from './request.ts'
import { mutateRoughly } from './rough-mutations.ts'
import { requestOf, validRequest } from './valid-requests.ts'

/** First id of the plants that must survive. No mutation produces ids in this range. */
const KEPT_IDS = 2n ** 61n

/** Requests per connection, at most. */
const PIPELINE_MAX = 50

/** One request of a pipeline. */
export interface Sent {
  readonly bytes: Buffer
  readonly isMutated: boolean
  /** Method and path. Undefined for the first request whose framing is broken, and all later ones. */
  readonly known?: { readonly method: string; readonly path: string }
  /** The plant that a 200 acknowledges. */
  readonly plant?: { readonly id: bigint; readonly name: string }
}

export type Writing = 'whole' | 'pieces' | 'slow'
export type Reading = 'at once' | 'slow' | 'never'
export type Ending = 'half-close' | 'wait' | 'abandon' | 'reset'

/** Everything that a connection does. */
export interface Plan {
  readonly number: number
  readonly requests: readonly Sent[]
  /** Varies within 127.0.0.0/8, because failed authentication is limited per address. */
  readonly localAddress: string
  readonly writing: Writing
  /** Where the bytes are cut into pieces, as fractions of the total length. */
  readonly cuts: readonly number[]
  readonly reading: Reading
  readonly ending: Ending
}

/** Derives the plan of a connection from the seed and its number alone, so that it can be replayed. */
export function planOf(seed: number, number: number): Plan {
  const random = new Random(seed, number)
  const requests = requestsOf(number, random)
  const writing = weighted<Writing>(random, { whole: 80, pieces: 17, slow: 3 })
  const cuts = Array.from({ length: 1 + random.below(10) }, () => random.below(1000) / 1000)
  return {
    number,
    requests,
    localAddress: random.oneIn(2)
      ? '127.0.0.1'
      : `127.${random.below(256)}.${random.below(256)}.${1 + random.below(250)}`,
    writing,
    cuts: cuts.toSorted(),
    reading: weighted<Reading>(random, { 'at once': 95, slow: 4, never: 1 }),
    ending: weighted<Ending>(random, { 'half-close': 70, wait: 15, abandon: 10, reset: 5 }),
  }
}

function requestsOf(number: number, random: Random): Sent[] {
  const length = random.pick([1, 1, 2, 5, 10, PIPELINE_MAX])
  const count = 1 + random.below(length)
  const requests: Sent[] = []
  if (random.oneIn(3)) requests.push(keptCreate(number, requests.length))
  // A broken request usually ends the connection, so most pipelines break only at their end.
  const firstRough = random.oneIn(3) ? random.below(count) : count - 1
  const isGentle = random.oneIn(3)
  for (let index = 0; index < count; index++) {
    const request = validRequest(random)
    if (isGentle || index < firstRough) {
      mutateGently(request, random)
      const path = request.target
      requests.push({
        bytes: bytesOf(request),
        isMutated: true,
        known: { method: request.method, path },
      })
      if (random.oneIn(20)) requests.push(keptCreate(number, requests.length))
    } else {
      requests.push({ bytes: mutateRoughly(request, random), isMutated: true })
    }
  }
  return requests
}

function keptCreate(connection: number, index: number): Sent {
  const id = KEPT_IDS + BigInt(connection) * 1024n + BigInt(index)
  const plant = { id, name: `kept ${id}` }
  const request = requestOf({
    method: 'POST',
    target: '/plants',
    headers: [
      ['Host', 'x'],
      ['Authorization', `Bearer ${TOKEN}`],
      ['Content-Type', 'application/json'],
    ],
    body: Buffer.from(`{"id":${id},"name":"${plant.name}"}`),
  })
  const known = { method: 'POST', path: '/plants' }
  return { bytes: bytesOf(request), isMutated: false, known, plant }
}

function weighted<Choice extends string>(random: Random, weights: Record<Choice, number>): Choice {
  const entries = Object.entries<number>(weights)
  let left = random.below(entries.reduce((sum, [, weight]) => sum + weight, 0))
  const [choice] = entries.find(([, weight]) => {
    left -= weight
    return left < 0
  }) as [Choice, number]
  return choice
}
