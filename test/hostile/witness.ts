/** Well-behaved clients that measure what an attack does to them. */
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from '../helpers/service/contract-check.ts'
import { checkAnswer } from './judge.ts'
import { TOKEN } from './target.ts'

/** Outside the range of ids that attacks use. */
const FIRST_ID = 2n ** 62n

const INTERVAL_MS = 20

/** Gives up on a response after this time. */
const PATIENCE_MS = 120_000

/** Reads and changes that are under way at the end are cut after this time. */
const CUT_MS = 1000

/** Numbers of responses by status, or by error code where the connection failed. */
export type Tally = Record<string, number>

export function count(tally: Tally, key: string | number, by = 1): void {
  tally[key] = (tally[key] ?? 0) + by
}

export function formatTally(tally: Tally): string {
  const entries = Object.entries(tally).map(([key, number]) => `${key}: ${number}`)
  return entries.join(', ') || 'no responses'
}

/** One client, which repeats a request. */
export class Probe {
  /** Keeps a connection that was opened before the attack; false to open one for each request. */
  readonly agent: Agent | false
  readonly statuses: Tally = {}
  /** Milliseconds until a 200. A request that is refused is repeated, so it waits as well. */
  readonly #waits: number[] = []

  constructor({ keepsAlive = true } = {}) {
    this.agent = keepsAlive && new Agent({ keepAlive: true, maxSockets: 1 })
  }

  /** Avoids coordinated omission: requests that were due during a wait would have waited too, so they count as well. */
  addWait(ms: number): void {
    for (let left = ms; left > 0; left -= INTERVAL_MS) this.#waits.push(left)
  }

  /** The wait that a share of the requests did not exceed, in milliseconds. */
  percentile(share: number): number {
    const sorted = this.#waits.toSorted((one, other) => one - other)
    return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
  }
}

/** Sends requests to a service until it is stopped. */
export class Witness {
  readonly #port: number
  readonly #begun: Promise<unknown>
  #stopped = false
  readonly probes = {
    health: new Probe(),
    newConnections: new Probe({ keepsAlive: false }),
    reads: new Probe(),
    creates: new Probe(),
  }
  readonly acknowledged = new Map<bigint, string>()
  /** Responses that the contract does not document. */
  readonly faults: string[] = []

  constructor(port: number) {
    this.#port = port
    const { health, newConnections, reads, creates } = this.probes
    this.#begun = Promise.all([
      this.#repeat(health, () => this.#send(health, 'GET', '/health/live')),
      this.#repeat(newConnections, () => this.#send(newConnections, 'GET', '/health/live')),
      // Long enough to need room among the responses that the service holds.
      this.#repeat(reads, () => this.#send(reads, 'GET', '/plants?limit=5')),
      this.#repeat(creates, () => this.#create(creates)),
    ])
  }

  /** Sends one more health request. Resolves to whether the response is 200. */
  async answered(): Promise<boolean> {
    return (await this.#send(this.probes.health, 'GET', '/health/live')) === 200
  }

  async stop(): Promise<void> {
    this.#stopped = true
    const { health, reads, creates } = this.probes
    const cut = setTimeout(() => [reads, creates].forEach(close), CUT_MS)
    await this.#begun
    clearTimeout(cut)
    for (const probe of [health, reads, creates]) close(probe)
  }

  async #repeat(probe: Probe, send: () => Promise<number | string>): Promise<void> {
    let waitsSince = performance.now()
    while (!this.#stopped) {
      const sent = performance.now()
      const status = await send()
      const answered = performance.now()
      count(probe.statuses, status)
      if (status === 200 || this.#stopped) probe.addWait(answered - waitsSince)
      await delay(Math.max(0, INTERVAL_MS - (answered - sent)))
      if (status === 200) waitsSince = performance.now()
    }
  }

  async #create(probe: Probe): Promise<number | string> {
    const id = FIRST_ID + BigInt(this.acknowledged.size)
    const name = `Abies alba ${id}`
    const status = await this.#send(probe, 'POST', '/plants', `{"id":${id},"name":"${name}"}`)
    if (status === 200) this.acknowledged.set(id, name)
    return status
  }

  /** Resolves to the status, or to the error code if the connection fails. */
  #send({ agent }: Probe, method: string, path: string, body?: string): Promise<number | string> {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    const options = { host: '127.0.0.1', port: this.#port, agent, method, path, headers }
    return new Promise((resolve) => {
      const outgoing = request({ ...options, timeout: PATIENCE_MS }, async (response) => {
        const { statusCode: status = 0, headers } = response
        try {
          const chunks = await response.toArray()
          this.#check(method, path, {
            status,
            headers: headers as Answer['headers'],
            body: Buffer.concat(chunks).toString(),
          })
          resolve(status)
        } catch {
          resolve('aborted')
        }
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
      this.faults.push(`a well-behaved client got: ${(error as Error).message}`)
    }
  }
}

function close({ agent }: Probe): void {
  if (agent) agent.destroy()
}
