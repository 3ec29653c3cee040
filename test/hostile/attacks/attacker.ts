import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Judge } from '../judge.ts'
import { ResponseReader } from '../responses.ts'
import { TOKEN } from '../target.ts'
import { count, type Tally } from '../witness.ts'

/** Connections opened at once, so that they fit into the backlog. */
const WAVE = 250

/** Time limit for the responses of one exchange. */
const PATIENCE_MS = 20_000

/** How long an attack goes on at full size, in milliseconds. */
export const DURATION_MS = 20_000

/** What one client can do to harm the others. Scale 1 is the size at which the problem was found. */
export interface Attack {
  readonly name: string
  /** Resolves when everything is sent and, if the attacker reads, answered. */
  run(attacker: Attacker): Promise<void>
}

/** The client side of an attack. Its connections stay open until the process ends. */
export class Attacker {
  readonly #port: number
  readonly scale: number
  readonly statuses: Tally = {}
  /** Responses that are not HTTP or not documented. */
  readonly faults: string[] = []
  readonly #judge = new Judge()

  constructor(port: number, scale: number) {
    this.#port = port
    this.scale = scale
  }

  /** A number of connections or requests at this scale, at least 1. */
  scaled(count: number): number {
    return Math.max(1, Math.round(count * this.scale))
  }

  /** Opens connections in waves and calls `act` with each. */
  async onConnections(
    number: number,
    act: (socket: Socket, index: number) => unknown,
    { reads = true } = {},
  ): Promise<void> {
    for (let from = 0; from < number; from += WAVE) {
      const wave = Array.from({ length: Math.min(WAVE, number - from) }, async (_, index) => {
        const socket = await this.#open(reads)
        if (socket !== undefined) await act(socket, from + index)
      })
      await Promise.all(wave)
    }
  }

  /**
   * Writes requests and waits for their responses.
   *
   * @returns whether all responses arrived
   */
  async exchange(socket: Socket, bytes: string | Buffer, answers = 1): Promise<boolean> {
    const ended = Promise.withResolvers<boolean>()
    let missing = answers
    const reader = new ResponseReader((response) => {
      count(this.statuses, response.status)
      const fault = this.#judge.faultOf(response)
      if (fault !== undefined) this.faults.push(fault)
      missing--
      if (missing === 0) ended.resolve(true)
    })
    const onData = (chunk: Buffer) => {
      try {
        reader.push(chunk)
      } catch (error) {
        this.faults.push((error as Error).message)
        socket.destroy()
      }
    }
    const onClose = () => ended.resolve(false)
    socket.on('data', onData).on('close', onClose)
    const timer = setTimeout(onClose, PATIENCE_MS)
    if (socket.destroyed) onClose()
    else socket.write(bytes)
    const complete = await ended.promise
    clearTimeout(timer)
    socket.off('data', onData).off('close', onClose)
    return complete
  }

  async #open(reads: boolean): Promise<Socket | undefined> {
    const socket = connect(this.#port, '127.0.0.1')
    if (!reads) socket.pause()
    socket.on('error', ({ code }: NodeJS.ErrnoException) => count(this.statuses, String(code)))
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {})
    return socket.destroyed ? undefined : socket
  }
}

/** The time at which an attack ends. */
export function endOf({ scale }: Attacker): number {
  return performance.now() + Math.min(1, scale) * DURATION_MS
}

/** A request head. An empty token leaves `Authorization` out. */
export function head(line: string, headers: readonly string[] = [], token = TOKEN): string {
  const authorization = token === '' ? [] : [`Authorization: Bearer ${token}`]
  return [`${line} HTTP/1.1`, 'Host: x', ...authorization, ...headers, '\r\n'].join('\r\n')
}

/** A complete create. */
export function createOf(body: string): string {
  return `${createHead(Buffer.byteLength(body))}${body}`
}

export function createHead(length: number): string {
  return head('POST /plants', ['Content-Type: application/json', `Content-Length: ${length}`])
}
