/** Well-behaved clients that measure what an attack does to them. */
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { type Answer, checkAnswer } from '../helpers/contract-check.ts'
import { TOKEN } from './target.ts'

/** Outside the range of ids that attacks use. */
const FIRST_ID = 2n ** 62n

const HEALTH_INTERVAL_MS = 10
const CREATE_INTERVAL_MS = 20

/** Gives up on a response after this time. */
const PATIENCE_MS = 120_000

export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Polls the health of a service and creates plants until it is stopped. */
export class Witness {
  readonly #port: number
  /** Each holds a connection that was opened before the attack. */
  readonly #agents = { health: new Agent(KEPT), creates: new Agent(KEPT) }
  readonly #acknowledged: Map<bigint, string>
  readonly #begun: Promise<unknown>
  #stopped = false
  readonly #delays: number[] = []
  /** Responses by status, or by error code where the connection failed. */
  readonly health: Tally = {}
  readonly creates: Tally = {}
  /** Responses that the contract does not document. */
  readonly faults: string[] = []

  /** @param acknowledged plants acknowledged earlier; new ones are added to it */
  constructor(port: number, acknowledged = new Map<bigint, string>()) {
    this.#port = port
    this.#acknowledged = acknowledged
    this.#begun = Promise.all([this.#watchHealth(), this.#createPlants()])
  }

  get acknowledged(): ReadonlyMap<bigint, string> {
    return this.#acknowledged
  }

  /** Sends one more health request. Resolves to whether the response is 200. */
  async answered(): Promise<boolean> {
    const status = await this.#send(this.#agents.health, 'GET', '/health/live')
    return status === 200
  }

  /** Latency of health requests in milliseconds. */
  latency(): Latency {
    const sorted = this.#delays.toSorted((one, other) => one - other)
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
    return { p50: at(0.5), p99: at(0.99), max: at(1) }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    // A create can take as long as the attack. Health requests must complete.
    const cut = setTimeout(() => this.#agents.creates.destroy(), 1000)
    await this.#begun
    clearTimeout(cut)
    this.#destroy()
  }

  #destroy(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  async #watchHealth(): Promise<void> {
    while (!this.#stopped) {
      const begun = performance.now()
      count(this.health, await this.#send(this.#agents.health, 'GET', '/health/live'))
      const took = performance.now() - begun
      // Avoids coordinated omission: requests that were due during a long wait would have waited too,
      // so they count as well.
      for (let late = took; late > 0; late -= HEALTH_INTERVAL_MS) this.#delays.push(late)
      if (took < HEALTH_INTERVAL_MS) await delay(HEALTH_INTERVAL_MS - took)
    }
  }

  async #createPlants(): Promise<void> {
    while (!this.#stopped) {
      const id = FIRST_ID + BigInt(this.#acknowledged.size)
      const name = `Abies alba ${id}`
      const body = `{"id":${id},"name":"${name}"}`
      const status = await this.#send(this.#agents.creates, 'POST', '/plants', body)
      count(this.creates, status)
      if (status === 200) this.#acknowledged.set(id, name)
      await delay(CREATE_INTERVAL_MS)
    }
  }

  /** Resolves to the status, or to the error code if the connection fails. */
  #send(agent: Agent, method: string, path: string, body?: string): Promise<number | string> {
    const headers = {
      ...(body !== undefined && {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }),
    }
    return new Promise((resolve) => {
      const options = { host: '127.0.0.1', port: this.#port, agent, method, path, headers }
      const outgoing = request({ ...options, timeout: PATIENCE_MS }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('error', () => resolve('aborted'))
        response.on('end', () => {
          const status = response.statusCode as number
          this.#check(method, path, {
            status,
            headers: response.headers as Answer['headers'],
            body: text,
          })
          resolve(status)
        })
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error('timeout')))
      outgoing.on('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message))
      outgoing.end(body)
    })
  }

  #check(method: string, path: string, answer: Answer): void {
    try {
      checkAnswer(method, path, answer)
    } catch (error) {
      this.faults.push((error as Error).message)
    }
  }
}

const KEPT = { keepAlive: true, maxSockets: 1 }

export type Tally = Record<string, number>

export function count(tally: Tally, key: string | number, by = 1): void {
  tally[key] = (tally[key] ?? 0) + by
}

/** Ids of acknowledged plants that are missing from the database, or have another name there. */
export function missingFrom(database: string, acknowledged: ReadonlyMap<bigint, string>): bigint[] {
  const db = new Sqlite(database, { readonly: true }).defaultSafeIntegers()
  try {
    const nameOf = db.prepare<[bigint], string>('SELECT name FROM plants WHERE id = ?').pluck()
    return [...acknowledged].filter(([id, name]) => nameOf.get(id) !== name).map(([id]) => id)
  } finally {
    db.close()
  }
}
