import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { StoredPlant } from '../../service/plant-store.ts'
import { batchRequest, creationRequest, type HttpChange, replacement } from '../crash/changes.ts'
import { checkAnswer } from '../helpers/contract-check.ts'

export const TOKEN = 'a-token-for-the-test'

const CLIENTS = 32

/** Delay before a retry, in milliseconds. Waiting for Retry-After would hide how short an outage is. */
const RETRY_AFTER = 20

/** Requests to choose from; those listed more often are chosen more often. */
const KINDS = [
  'create',
  'create',
  'create',
  'batch',
  'create again',
  'replacement',
  'read',
] as const

/** The limit of new plants in a batch. */
const BATCH_MAX = 10

/** Only the parts of a change that a read has too. */
type Request = Pick<HttpChange, 'path' | 'body'> & { readonly method: string }

/**
 * Clients that create, replay, replace and read plants of their own, one request at a time each, and retry after a 503.
 * Some plants are created in batches, which can contain a plant that is already stored.
 * Once they have ended, what must be stored is therefore known.
 */
export class Load {
  /** The last acknowledged content of each plant. */
  readonly acknowledged = new Map<bigint, StoredPlant>()
  /** Number of responses by method and status. */
  readonly answers: Record<string, number> = {}
  /** Responses that are neither as expected nor 503. */
  readonly wrong: string[] = []
  /** Time of the slowest response, in milliseconds. */
  slowest = 0
  /** When the most recent acknowledged create was sent, by performance.now(). */
  lastCreate = 0
  /** Whether clients only create plants, because changing a lost plant would restore it. */
  onlyNew = false
  readonly #url: string
  readonly #responseMsMax: number
  readonly #clients: Promise<unknown>
  #serial = 0
  #ended = false
  #answered = Promise.withResolvers<void>()

  /** @param responseMsMax the limit for a response, in milliseconds */
  constructor(url: string, responseMsMax: number) {
    this.#url = url
    this.#responseMsMax = responseMsMax
    this.#clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#client()))
    this.#clients.catch(() => {
      this.#ended = true
    })
  }

  /** Resolves after the first response that makes the condition true; rejects if a response is late. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await Promise.race([this.#answered.promise, this.#clients])
  }

  /** Resolves once each client has finished its current request. */
  async end(): Promise<void> {
    this.#ended = true
    await this.#clients
  }

  /** The acknowledged plants that are missing from these, or differ from their acknowledged content. */
  lostFrom(stored: readonly StoredPlant[]): StoredPlant[] {
    const found = new Map(stored.map((plant) => [plant.id, plant]))
    return [...this.acknowledged.values()].filter(
      (plant) => !isDeepStrictEqual(plant, found.get(plant.id)),
    )
  }

  async #client(): Promise<void> {
    const own: bigint[] = []
    while (!this.#ended) {
      const plant = this.acknowledged.get(own[randomInt(own.length + 1)] ?? 0n)
      const kind = plant === undefined ? 'create' : KINDS[randomInt(KINDS.length)]
      if (plant === undefined || kind === 'create') {
        own.push(await this.#create())
      } else if (kind === 'batch') {
        own.push(...(await this.#createBatch(this.onlyNew ? [] : [plant])))
      } else if (kind === 'read') {
        await this.#read(plant)
      } else if (!this.onlyNew) {
        if (kind === 'replacement') await this.#replace(plant.id)
        else await this.#send(creationRequest(plant))
      }
    }
  }

  async #create(): Promise<bigint> {
    const plant = this.#newPlant(newId())
    const sent = await this.#sendUntilDone(creationRequest(plant))
    this.acknowledged.set(plant.id, plant)
    this.lastCreate = Math.max(this.lastCreate, sent)
    return plant.id
  }

  /** Creates several plants in a batch with stored ones, and resolves to their ids. */
  async #createBatch(stored: readonly StoredPlant[]): Promise<bigint[]> {
    const created = Array.from({ length: randomInt(1, BATCH_MAX + 1) }, () =>
      this.#newPlant(newId()),
    )
    await this.#sendUntilDone(batchRequest([...created, ...stored]))
    for (const plant of created) this.acknowledged.set(plant.id, plant)
    return created.map(({ id }) => id)
  }

  async #replace(id: bigint): Promise<void> {
    const plant = this.#newPlant(id)
    await this.#sendUntilDone(replacement(plant))
    this.acknowledged.set(id, plant)
  }

  async #read({ id, ...plant }: StoredPlant): Promise<void> {
    const { status, body } = await this.#send({ path: `/plants/${id}`, method: 'GET' })
    if (status === 200 && !isDeepStrictEqual({ id: String(id), ...plant }, withTextId(body))) {
      this.wrong.push(`read ${body} instead of ${plant.name}`)
    }
  }

  /** Resolves to the time at which it was last sent. */
  async #sendUntilDone(request: Request): Promise<number> {
    for (;;) {
      const sent = performance.now()
      const { status } = await this.#send(request)
      if (status !== 503) return sent
      await setTimeout(RETRY_AFTER)
    }
  }

  async #send({ path, method, body }: Request): Promise<{ status: number; body: string }> {
    const begin = performance.now()
    const response = await fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(this.#responseMsMax),
      ...(body !== undefined && { body }),
    })
    const { status, headers } = response
    const answer = { status, headers: Object.fromEntries(headers), body: await response.text() }
    this.slowest = Math.max(this.slowest, performance.now() - begin)
    // The contract check verifies that each 503 has Retry-After.
    checkAnswer(method, path, answer)
    this.#count(`${path === '/plants/batch' ? 'batch ' : ''}${method} ${status}`)
    if (status !== 200 && status !== 503) this.wrong.push(`${method} ${path}: ${answer.body}`)
    return answer
  }

  #count(answer: string): void {
    this.answers[answer] = (this.answers[answer] ?? 0) + 1
    // Deferred until the client has recorded the response.
    setImmediate(this.#answered.resolve)
    this.#answered = Promise.withResolvers()
  }

  /** A unique name. */
  #newPlant(id: bigint): StoredPlant {
    this.#serial += 1
    return { id, name: `plant ${this.#serial}`, ...(randomInt(2) && { tag: 'Tree' }) }
  }
}

function newId(): bigint {
  return randomBytes(8).readBigInt64BE()
}

/** Parses a plant. Its id can have more digits than a number. */
function withTextId(body: string): unknown {
  return JSON.parse(body.replace(/"id":(-?\d+)/, '"id":"$1"'))
}
