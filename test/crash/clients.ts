import { randomBytes, randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { NewPlant } from '../../service/plant-store.ts'
import { contentVersion } from '../../service/plant-store.ts'
import { type Answer, checkAnswer } from '../helpers/contract-check.ts'
import type { Change, ChangeRequest } from './changes.ts'
import { creation, creationRequest, removal, replacement, update } from './changes.ts'
import type { History } from './history.ts'

export const TOKEN = 'a-token-for-the-test'

const CLIENTS = 40

/** Number of clients that create each contested plant. */
const CONTENDERS = 4

/** One plant in this many fills several pages of the database, so that a partial write would show. */
const LONG = 20

/** Few plants per client, so that each is changed repeatedly. */
const RECENT = 20

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
    const send = (change: ChangeRequest) => exchange(agent, url, change)
    const client = async (own: bigint[]) => {
      for (;;) {
        const answered =
          randomInt(10) === 0 ? await this.#contest(send) : await this.#changeOwn(send, own)
        if (!answered) return
        onAnswer()
      }
    }
    try {
      await Promise.all(this.#own.map(client))
    } finally {
      agent.destroy()
    }
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
      // Random, so that a transaction writes to many pages. Positive, unlike those of contested plants.
      own.push(randomBytes(8).readBigInt64BE() & (2n ** 63n - 1n))
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

type Send = (change: ChangeRequest) => Promise<number | undefined>

function oneOf<Item>(items: readonly Item[]): Item {
  return items[randomInt(items.length)] as Item
}

/** Resolves to the status, or to undefined if the service ended without answering. */
function exchange(
  agent: Agent,
  url: string,
  { id, method, body = '', expected }: ChangeRequest,
): Promise<number | undefined> {
  const path = method === 'POST' ? '/plants' : `/plants/${id}`
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    ...(body !== '' && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
    ...(expected !== undefined && { 'if-match': `"${expected}"` }),
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(url + path, { agent, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', () => resolve(undefined))
      response.on('end', () => {
        const status = response.statusCode as number
        const answer = { status, headers: response.headers as Answer['headers'], body: text }
        try {
          checkAnswer(method, path, answer)
          resolve(status)
        } catch (error) {
          reject(error)
        }
      })
    })
    outgoing.on('error', () => resolve(undefined))
    outgoing.end(body)
  })
}
