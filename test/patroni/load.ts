import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { NewPlant } from '../../service/plant-store.ts'
import { contentVersion } from '../../service/plant-store.ts'
import { creationRequest, removal, update } from '../crash/changes.ts'
import { type Change, History, type Kind } from './history.ts'
import { Requests, type Response } from './requests.ts'
import { until } from './until.ts'

const CLIENTS = 32

/** Number of clients that create each contested plant. */
const CONTENDERS = 2

/** The longest pause of a client between two requests, in milliseconds. It leaves the servers time to replicate. */
const PAUSE_MS_MAX = 40

/** The pause of a client after 503. Waiting for Retry-After would hide how short an outage is. */
const RETRY_MS = 50

/** Changes to choose from; those listed more often are chosen more often. */
const KINDS = [
  'create',
  'create',
  'create',
  'replay',
  'replay',
  'update',
  'removal',
  'contest',
] as const

/** The most plants of a client that it still changes. */
const RECENT = 20

const REQUESTS = { create: creationRequest, update, removal }

/**
 * Clients that change plants of their own, one request at a time each, and repeat a request until its outcome is known.
 * Some plants are created by several clients at once, with different contents.
 */
export class Load {
  readonly history = new History()
  readonly requests: Requests
  /** The longest time between two acknowledged creates: its beginning and end, by performance.now(). */
  longestGap: readonly [begin: number, end: number] = [0, 0]
  /** Whether clients only create plants. */
  onlyNew = false
  #created = 0
  #lastCreate = performance.now()
  #serial = 0
  #contested = 0
  #isEnded = false
  readonly #clients: Promise<unknown>

  constructor(urls: readonly string[]) {
    this.requests = new Requests(urls)
    this.#clients = Promise.all(Array.from({ length: CLIENTS }, (_, index) => this.#client(index)))
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
    const own: bigint[] = []
    while (!this.#isEnded) {
      const plant = this.history.get(own[randomInt(own.length + 1)] ?? 0n)
      const kind = KINDS[randomInt(plant === undefined || this.onlyNew ? 1 : KINDS.length)]
      if (kind === 'contest') await this.#contest(index)
      else if (plant === undefined || kind === 'create') await this.#create(index, own)
      else if (kind === 'replay') await this.#change(index, own, { kind: 'create', plant })
      else await this.#change(index, own, { kind: kind as Kind, plant: this.#newPlant(plant.id) })
      if (own.length > RECENT) own.shift()
      await setTimeout(randomInt(PAUSE_MS_MAX))
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

  /** Sends a change until it is known whether it was made. */
  async #change(index: number, own: bigint[], change: Change): Promise<void> {
    const request = REQUESTS[change.kind](change.plant)
    for (;;) {
      const response = await this.requests.send(index, request)
      if (isKnown(response)) {
        this.#checkVersion(change, response)
        return this.history.answered(change, response.status)
      }
      this.history.unknown(change)
      // An abandoned request can still be served, after changes that follow it. No change follows this one.
      const position = own.indexOf(change.plant.id)
      if (position >= 0) own.splice(position, 1)
      await setTimeout(RETRY_MS)
    }
  }

  /** The response to an update has the version of the new content. */
  #checkVersion({ plant }: Change, { status, headers }: Response): void {
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

  /** A unique name. */
  #newPlant(id: bigint): NewPlant {
    this.#serial += 1
    return { id, name: `plant ${this.#serial}`, ...(randomInt(2) && { tag: 'Tree' }) }
  }
}

/** Without a response, or with 503, a change may have been made. */
function isKnown(response: Response | undefined): response is Response {
  return response !== undefined && response.status !== 503
}

/** Positive, unlike those of contested plants. */
function newId(): bigint {
  return randomBytes(8).readBigInt64BE() & (2n ** 63n - 1n)
}
