import { randomBytes, randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import type { NewPlant } from '../../service/plant-store.ts'
import { contentVersion } from '../../service/plant-store.ts'
import { checkAnswer } from '../helpers/contract-check.ts'
import type { Change, HttpRequest } from '../load/changes.ts'
import {
  batchRequest,
  creation,
  creationRequest,
  removal,
  replacement,
  update,
} from '../load/changes.ts'
import { exchange } from '../load/requests.ts'
import type { History } from './history.ts'

const CLIENTS = 40

/** Number of clients that create each contested plant. */
const CONTENDERS = 4

/** One plant in this many fills several pages of the database, so that a partial write would show. */
const LONG = 20

/** Few plants per client, so that each is changed repeatedly. */
const RECENT = 20

/** The limit of new plants in a batch. */
const BATCH_MAX = 100

const CHANGES = { replacement, update, removal }

/** Methods to choose from; those listed more often are chosen more often. */
const KINDS = [
  ...(['create', 'create', 'create', 'create again'] as const),
  ...(['replacement', 'replacement', 'update', 'update', 'removal'] as const),
]

/** Clients that change plants until the service is killed. */
export class Clients {
  readonly #history: History
  readonly #own: bigint[][] = Array.from({ length: CLIENTS }, () => [])
  #serial = 0
  #contested = 0

  constructor(history: History) {
    this.#history = history
  }

  /** Resolves once the service has ended. `onAnswer` is called with each acknowledged change. */
  async run(url: string, onAnswer: () => void): Promise<void> {
    // What the other clients sent of the last contested plant is unknown after a crash.
    this.#contested = Math.ceil(this.#contested / CONTENDERS) * CONTENDERS
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
    const send = async (request: HttpRequest) => {
      const answer = await exchange(agent, url, request)
      if (answer !== undefined) checkAnswer(request.method, request.path, answer)
      return answer?.status
    }
    const client = async (own: bigint[]) => {
      for (;;) {
        if (!(await this.#change(send, own))) return
        onAnswer()
      }
    }
    try {
      await Promise.all(this.#own.map(client))
    } finally {
      agent.destroy()
    }
  }

  /** Resolves to whether the service has answered. */
  #change(send: Send, own: bigint[]): Promise<boolean> {
    const kind = randomInt(10)
    if (kind === 0) return this.#contest(send)
    return kind === 1 ? this.#createBatch(send, own) : this.#changeOwn(send, own)
  }

  /** Some batches also contain stored plants, and some of these conflict. */
  async #createBatch(send: Send, own: bigint[]): Promise<boolean> {
    const stored = own.slice(-randomInt(1, 5)).flatMap((id) => this.#history.get(id) ?? [])
    const created = Array.from({ length: randomInt(1, BATCH_MAX) }, () => this.#newPlant(newId()))
    const conflicts =
      randomInt(4) > 0 ? [] : stored.splice(0, 1).map(({ id }) => this.#newPlant(id))
    const plants = [...stored, ...created, ...conflicts]
    own.push(...created.map(({ id }) => id))
    this.#history.sentBatch(plants)
    const status = await send(batchRequest(plants))
    if (status !== undefined) this.#history.answeredBatch(plants, status)
    return status !== undefined
  }

  async #changeOwn(send: Send, own: bigint[]): Promise<boolean> {
    const change = this.#anyChange(own)
    this.#history.sent(change)
    const status = await send(change)
    if (status !== undefined) this.#history.answered(change, status)
    return status !== undefined
  }

  async #contest(send: Send): Promise<boolean> {
    this.#contested += 1
    const id = -BigInt(Math.ceil(this.#contested / CONTENDERS))
    const plant = this.#newPlant(id)
    this.#history.contest(plant)
    const status = await send(creationRequest(plant))
    if (status !== undefined) this.#history.contested(plant, status)
    return status !== undefined
  }

  #anyChange(own: bigint[]): Change {
    const id = own.at(-randomInt(1, RECENT + 1))
    const kind = id === undefined ? 'create' : oneOf(KINDS)
    if (id === undefined || kind === 'create') {
      own.push(newId())
      return creation(this.#newPlant(own.at(-1) as bigint))
    }
    const stored = this.#history.get(id)
    const content = this.#newPlant(id)
    if (kind === 'create again') return creation(stored && randomInt(2) ? stored : content)
    // Sometimes a version that the plant does not have.
    const version = contentVersion(stored && randomInt(4) ? stored : content)
    return CHANGES[kind](content, randomInt(2) ? version : undefined)
  }

  /** A unique name. */
  #newPlant(id: bigint): NewPlant {
    this.#serial += 1
    const name = `plant ${this.#serial} ${randomInt(LONG) ? '' : 'x'.repeat(randomInt(20_000))}`
    return { id, name, ...oneOf([{}, { tag: 'Tree' }, { tag: `tag ${this.#serial}` }]) }
  }
}

/** Random, so that a transaction writes to many pages. Positive, unlike those of contested plants. */
function newId(): bigint {
  return randomBytes(8).readBigInt64BE() & (2n ** 63n - 1n)
}

/** Resolves to the status, or to undefined if the service ended without answering. */
type Send = (request: HttpRequest) => Promise<number | undefined>

function oneOf<Item>(items: readonly Item[]): Item {
  return items[randomInt(items.length)] as Item
}
