import { randomInt } from 'node:crypto'
import { creationRequest, type HttpRequest } from '../load/changes.ts'
import type { Client } from './client.ts'

/** Plants whose names are numbers, which clients increment through any replica. */
export class Counters {
  readonly #client: Client
  readonly #replicas: readonly string[]
  /** The acknowledged numbers by id. */
  readonly #acknowledged = new Map<number, number[]>()
  /** Number of increments that failed with 412 because another one came first. */
  refused = 0

  constructor(client: Client, replicas: readonly string[]) {
    this.#client = client
    this.#replicas = replicas
  }

  async make(id: number): Promise<void> {
    await this.#send(creationRequest({ id: BigInt(id), name: '0' }))
    this.#acknowledged.set(id, [])
  }

  /** Increments a plant's number, and retries until that succeeds. */
  async increment(id: number): Promise<void> {
    for (;;) {
      const { number, version } = await this.read(id)
      const body = JSON.stringify({ name: String(number + 1) })
      const method = randomInt(2) === 0 ? 'PUT' : 'PATCH'
      const request = { method, path: `/plants/${id}`, body, expected: version } as const
      const { status } = await this.#send(request)
      if (status === 200) {
        this.acknowledged(id).push(number + 1)
        return
      }
      if (status !== 412) throw new Error(`${status} for an increment`)
      this.refused += 1
    }
  }

  /** @throws Error if the number is less than an acknowledged one */
  async read(id: number): Promise<{ number: number; version: string | undefined }> {
    const least = Math.max(0, ...this.acknowledged(id))
    const { headers, body } = await this.#send({ method: 'GET', path: `/plants/${id}` })
    const number = Number(JSON.parse(body).name)
    if (number < least) throw new Error(`read ${number} after ${least} was acknowledged`)
    return { number, version: headers.etag?.slice(1, -1) }
  }

  /** The numbers in the order of their acknowledgement. */
  acknowledged(id: number): number[] {
    return this.#acknowledged.get(id) as number[]
  }

  #send(request: HttpRequest) {
    return this.#client.send(this.#replicas[randomInt(this.#replicas.length)] as string, request)
  }
}
