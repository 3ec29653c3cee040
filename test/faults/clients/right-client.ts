import { setTimeout as wait } from 'node:timers/promises'
import {
  type Change,
  type NewPlant,
  parseJson,
  type StoredPlant,
  toJson,
} from '../../../client/client.ts'
import type { Access, Client, Copy } from './client.ts'

const TRANSIENT = [429, 503]

const JSON_TYPE = { 'content-type': 'application/json' }
const PATCH_TYPE = { 'content-type': 'application/merge-patch+json' }

/** The store refuses a request, and would refuse it again. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the store responds with ${status}`)
    this.status = status
  }
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A client that survives every fault, on `fetch` alone. Each wrong client replaces a part of it. */
export class RightClient implements Client {
  readonly #access: Access
  protected readonly attempts: number = 4
  protected readonly timeoutMs: number

  constructor(access: Access) {
    this.#access = access
    this.timeoutMs = access.timeoutMs
  }

  async create(plant: NewPlant): Promise<void> {
    await this.send('/plants', () => this.toPost(plant))
  }

  protected toPost(plant: NewPlant): Sent {
    return { method: 'POST', headers: JSON_TYPE, body: toJson(plant) }
  }

  async rename(id: bigint, name: string): Promise<void> {
    const path = `/plants/${id}`
    const { headers } = await this.send(path)
    const ifMatch = { 'if-match': headers.get('etag') ?? '' }
    try {
      await this.send(path, (attempt) => this.toPatch(name, ifMatch, attempt))
    } catch (error) {
      const hasChanged = error instanceof Refused && error.status === 412
      // Perhaps it was changed by an earlier attempt.
      if (!hasChanged || !(await this.hasName(id, name))) throw error
    }
  }

  protected async hasName(id: bigint, name: string): Promise<boolean> {
    const { text } = await this.send(`/plants/${id}`)
    return (this.parse(text) as StoredPlant).name === name
  }

  protected toPatch(
    name: string,
    ifMatch: Readonly<Record<string, string>>,
    _attempt: number,
  ): Sent {
    return { method: 'PATCH', headers: { ...PATCH_TYPE, ...ifMatch }, body: toJson({ name }) }
  }

  async list(): Promise<StoredPlant[]> {
    const plants: StoredPlant[] = []
    for (let path: string | undefined = '/plants'; path !== undefined; ) {
      const { text, headers } = await this.send(path)
      plants.push(...(this.parse(text) as StoredPlant[]))
      path = this.nextPath(headers)
    }
    return plants
  }

  protected nextPath(headers: Headers): string | undefined {
    const [, query] = /^<(\?.*)>; rel="next"$/.exec(headers.get('link') ?? '') ?? []
    return query && `/plants${query}`
  }

  async follow(copy: Copy, until: bigint): Promise<void> {
    while (!copy.names.has(until)) {
      try {
        for await (const change of this.stream(copy.cursor)) {
          copy.apply(change)
          if (change.id === until) return
        }
      } catch (error) {
        await this.recover(error, copy)
      }
    }
  }

  protected async recover(error: unknown, copy: Copy): Promise<void> {
    if (!(error instanceof Refused)) return
    if (error.status !== 410) throw error
    const { headers } = await this.send('/changes?after=latest')
    const [, cursor = ''] = /after=([^&>]*)/.exec(headers.get('link') ?? '') ?? []
    copy.replace(await this.list(), cursor)
  }

  protected async *stream(after: string | undefined): AsyncGenerator<Change> {
    const path = after === undefined ? '/changes' : `/changes?after=${after}`
    const response = await this.fetch(path, { headers: { accept: 'text/event-stream' } })
    if (this.isTransient(response.status)) await wait(this.delayMs(response))
    else if (response.ok) yield* this.#toChanges(response)
    else throw new Refused(response.status)
  }

  async *#toChanges({ body }: Response): AsyncGenerator<Change> {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const part of body ?? []) {
      const blocks = (rest + decoder.decode(part, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, json] = /^data: (.*)$/m.exec(block) ?? []
        if (json !== undefined) yield this.parse(json) as Change
      }
    }
  }

  /** Sends a request until its response is complete, and not a temporary failure. */
  protected async send(
    path: string,
    toSent: (attempt: number) => Sent = () => ({}),
  ): Promise<{ text: string; headers: Headers }> {
    for (let attempt = 1; ; attempt++) {
      let delayMs = 10
      try {
        const response = await this.fetch(path, toSent(attempt))
        const text = await this.read(response)
        if (response.ok) return { text, headers: response.headers }
        if (!this.isTransient(response.status)) throw new Refused(response.status)
        delayMs = this.delayMs(response)
      } catch (error) {
        if (error instanceof Refused || attempt === this.attempts) throw error
      }
      if (attempt === this.attempts) throw new Error('the store is busy')
      await wait(delayMs)
    }
  }

  protected isTransient(status: number): boolean {
    return TRANSIENT.includes(status)
  }

  protected delayMs(response: Response): number {
    return 1000 * Number(response.headers.get('retry-after'))
  }

  protected read(response: Response): Promise<string> {
    return response.text()
  }

  protected parse(json: string): unknown {
    return parseJson(json)
  }

  protected fetch(path: string, { headers, ...sent }: Sent): Promise<Response> {
    const { url, token } = this.#access
    return fetch(`${url}${path}`, {
      ...sent,
      headers: { authorization: `Bearer ${token}`, ...headers },
      signal: AbortSignal.timeout(this.timeoutMs),
    })
  }
}
