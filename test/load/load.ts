import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { contentVersion, type NewPlant, type StoredPlant } from '../../service/plant-store.ts'
import type { Answer } from '../helpers/contract-check.ts'
import { until } from '../helpers/until.ts'
import {
  batchRequest,
  creationRequest,
  type HttpRequest,
  readRequest,
  removal,
  toJson,
  update,
} from './changes.ts'
import { type Change, History } from './history.ts'
import { Requests } from './requests.ts'

const CLIENTS = 32

/** Number of clients that create each contested plant. */
const CONTENDERS = 2

/** The limit of new plants in a batch. */
const BATCH_MAX = 10

/** The pause of a client after 503. Waiting for Retry-After would hide how short an outage is. */
const RETRY_MS = 50

/** The most plants of a client that it still changes. */
const RECENT = 20

const REQUESTS = { create: creationRequest, update, removal }

/** What a client can do next. */
export type Kind = 'create' | 'batch' | 'replay' | 'update' | 'removal' | 'contest' | 'read'

const KINDS: readonly Kind[] = [
  'create',
  'create',
  'create',
  'batch',
  'replay',
  'update',
  'removal',
  'contest',
  'read',
]

export interface LoadOptions {
  /** What clients choose from; those listed more often are chosen more often. */
  readonly kinds?: readonly Kind[]
  /** The longest pause of a client between two requests, in milliseconds. */
  readonly pauseMsMax?: number
  readonly token?: string
  readonly clients?: number
}

/**
 * Clients that change plants of their own, one request at a time each, and repeat a request until its outcome is known.
 * Some plants are created by several clients at once, with different contents.
 */
export class Load {
  readonly history = new History()
  readonly requests: Requests
  /** The longest time between two acknowledged creates: its beginning and end, by performance.now(). */
  longestGap: readonly [begin: number, end: number] = [0, 0]
  readonly #options: LoadOptions
  #created = 0
  #lastCreate = performance.now()
  #serial = 0
  #contested = 0
  #isEnded = false
  readonly #clients: Promise<unknown>

  /** @param urls the replicas of the service */
  constructor(urls: readonly string[], options: LoadOptions = {}) {
    this.#options = options
    this.requests = new Requests(urls, options.token)
    const { clients = CLIENTS } = options
    this.#clients = Promise.all(Array.from({ length: clients }, (_, index) => this.#client(index)))
    this.#clients.catch(() => {})
  }

  /** Resolves once some more creates were acknowledged that were sent after this call. */
  async creates(number: number): Promise<void> {
    const enough = this.#created + CLIENTS + number
    await until(`${number} creates were acknowledged`, () => this.#created >= enough)
  }

  /** Resolves once the outcome of each request is known. */
  async end(): Promise<void> {
    this.#isEnded = true
    await this.#clients
    this.requests.close()
  }

  async #client(index: number): Promise<void> {
    const { kinds = KINDS, pauseMsMax = 0 } = this.#options
    const own: bigint[] = []
    while (!this.#isEnded) {
      const plant = this.history.get(own[randomInt(own.length + 1)] ?? 0n)
      const kind = kinds[randomInt(kinds.length)] as Kind
      if (plant === undefined || kind === 'create') await this.#create(index, own)
      else if (kind === 'batch') await this.#createBatch(index, own, plant)
      else if (kind === 'contest') await this.#contest(index)
      else if (kind === 'read') await this.#read(index, plant)
      else if (kind === 'replay') await this.#change(index, own, { kind: 'create', plant })
      else await this.#change(index, own, { kind, plant: this.#newPlant(plant.id) })
      while (own.length > RECENT) own.shift()
      await setTimeout(randomInt(pauseMsMax + 1))
    }
  }

  async #create(index: number, own: bigint[]): Promise<void> {
    const plant = this.#newPlant(newId())
    own.push(plant.id)
    await this.#change(index, own, { kind: 'create', plant })
    const now = performance.now()
    const [begin, end] = this.longestGap
    if (now - this.#lastCreate > end - begin) this.longestGap = [this.#lastCreate, now]
    this.#lastCreate = now
    this.#created += 1
  }

  /** Creates plants in a batch that also contains a stored one. */
  async #createBatch(index: number, own: bigint[], stored: StoredPlant): Promise<void> {
    const created = Array.from({ length: randomInt(1, BATCH_MAX + 1) }, () =>
      this.#newPlant(newId()),
    )
    own.push(...created.map(({ id }) => id))
    const plants = [...created, stored]
    const changes = plants.map((plant): Change => ({ kind: 'create', plant }))
    await this.#sendUntilKnown(index, own, batchRequest(plants), changes)
  }

  async #change(index: number, own: bigint[], change: Change): Promise<void> {
    await this.#sendUntilKnown(index, own, REQUESTS[change.kind](change.plant), [change])
  }

  /** Sends a request until it is known whether its changes were made. */
  async #sendUntilKnown(
    index: number,
    own: bigint[],
    request: HttpRequest,
    changes: readonly Change[],
  ): Promise<void> {
    for (;;) {
      const response = await this.requests.send(index, request)
      if (isKnown(response)) {
        for (const change of changes) {
          this.#checkVersion(change, response)
          this.history.answered(change, response.status)
        }
        return
      }
      for (const change of changes) {
        this.history.unknown(change)
        // An abandoned request can still be served, after changes that follow it. No change follows this one.
        const position = own.indexOf(change.plant.id)
        if (position >= 0) own.splice(position, 1)
      }
      await setTimeout(RETRY_MS)
    }
  }

  /** The response to an update has the version of the new content. */
  #checkVersion({ plant }: Change, { status, headers }: Answer): void {
    const { etag } = headers
    if (status !== 200 || etag === undefined || etag === `"${contentVersion(plant)}"`) return
    this.history.contradicted(`${etag} for ${plant.name}`)
  }

  async #contest(index: number): Promise<void> {
    this.#contested += 1
    const plant = this.#newPlant(-BigInt(Math.ceil(this.#contested / CONTENDERS)))
    for (;;) {
      const response = await this.requests.send(index, creationRequest(plant))
      if (isKnown(response)) return this.history.contested(plant, response.status)
      await setTimeout(RETRY_MS)
    }
  }

  async #read(index: number, plant: StoredPlant): Promise<void> {
    const response = await this.requests.send(index, readRequest(plant))
    if (!isKnown(response) || response.body === toJson(plant)) return
    this.history.contradicted(`${response.status} ${response.body} for a read of ${plant.name}`)
  }

  /** A unique name. */
  #newPlant(id: bigint): NewPlant {
    this.#serial += 1
    return { id, name: `plant ${this.#serial}`, ...(randomInt(2) && { tag: 'Tree' }) }
  }
}

/** Without a response, or with 503, a change may have been made. */
function isKnown(response: Answer | undefined): response is Answer {
  return response !== undefined && response.status !== 503
}

/** Positive, unlike those of contested plants. */
function newId(): bigint {
  return randomBytes(8).readBigInt64BE() & (2n ** 63n - 1n)
}
