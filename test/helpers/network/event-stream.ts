/** Reads server-sent events. */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Test } from 'tap'
import type { Change } from '../../../service/store/change-feed.ts'
import { COMMENT_INTERVAL_SECONDS } from '../../../src/http/following/event-stream.ts'
import type { Owner } from '../processes/command.ts'
import { checkAnswer } from '../service/contract-check.ts'
import { type Caller, parseExact } from '../service/service.ts'

interface StreamOptions {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
}

export interface Event {
  readonly id: string
  readonly change: Change
}

/** A stream of changes, which is closed when the test ends. */
export class EventStream {
  readonly response: IncomingMessage
  readonly #request: ClientRequest
  readonly #blocks: AsyncGenerator<string, void, void>

  private constructor(outgoing: ClientRequest, response: IncomingMessage) {
    this.#request = outgoing
    this.response = response
    this.#blocks = readBlocks(response)
  }

  /** Opens a stream, by default of the changes from now on. */
  static async open(
    t: Owner,
    caller: Pick<Caller, 'port' | 'token'>,
    options: StreamOptions = {},
  ): Promise<EventStream> {
    const { path = '/changes?after=latest', headers, token = caller.token } = options
    const outgoing = request({
      port: caller.port,
      path,
      agent: false,
      headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers },
    })
    outgoing.on('error', () => {})
    t.teardown(() => outgoing.destroy())
    const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage]
    checkAnswer('GET', path, {
      status: response.statusCode as number,
      headers: response.headers as Record<string, string>,
      body: '',
    })
    return new EventStream(outgoing, response)
  }

  /** The next block: the lines of an event, or a comment. Undefined if the stream has ended. */
  async nextBlock(): Promise<string | undefined> {
    const { value } = await this.#blocks.next()
    return value ?? undefined
  }

  /** The next event, after any comments. */
  async next(): Promise<Event> {
    for (;;) {
      const block = await this.nextBlock()
      if (block === undefined) throw new Error('the stream has ended')
      const [, id = '', data] = /^id: (\S*)\ndata: (.*)$/s.exec(block) ?? []
      if (data !== undefined) return { id, change: parseExact(data) as Change }
      if (block !== ':') throw new Error(`not an event: ${block}`)
    }
  }

  /** Resolves to the changes of the next events. */
  async changes(count: number): Promise<Change[]> {
    const changes: Change[] = []
    while (changes.length < count) changes.push((await this.next()).change)
    return changes
  }

  /** Resolves when the service has ended the stream. Rejects if the connection breaks. */
  async end(): Promise<void> {
    while ((await this.nextBlock()) !== undefined);
  }

  close(): void {
    this.#request.destroy()
  }
}

/** Sets how long idle streams wait between comments, in milliseconds, until the test ends. */
export function setCommentInterval(t: Test, interval: number | 'never'): void {
  const start = setTimeout
  t.capture(globalThis, 'setTimeout', (callback: () => void, milliseconds: number) =>
    start(
      callback,
      milliseconds === COMMENT_INTERVAL_SECONDS * 1000 ? toDelay(interval) : milliseconds,
    ),
  )
}

function toDelay(interval: number | 'never'): number {
  return interval === 'never' ? 2 ** 31 - 1 : interval
}

async function* readBlocks(response: IncomingMessage): AsyncGenerator<string, void, void> {
  let rest = ''
  for await (const text of response.setEncoding('utf8')) {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() as string
    yield* blocks
  }
}
