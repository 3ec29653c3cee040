/** A server that receives webhooks over HTTPS on a loopback address. */
import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issue } from '../helpers/network/certificates.ts'
import type { Owner } from '../helpers/processes/command.ts'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly id: string
  readonly event: string
  /** Of the plant in the body. */
  readonly plant: bigint
  /** By `performance.now()`. */
  readonly at: number
}

/** Responds to the delivery with the given number, counted from 0. */
export type Respond = (response: ServerResponse, index: number, received: Received) => void

const authority = issue({ name: 'authority' })
const certificate = issue({
  name: 'receiver',
  hosts: ['127.0.0.1', 'localhost', 'receiver.example'],
  issuer: authority,
})

/** The authority that issued the certificates of all receivers, in PEM. */
export const AUTHORITY = authority.cert

export class Receiver {
  readonly received: Received[] = []
  /** The distinct `webhook-id`s. */
  readonly ids = new Set<string>()
  /** How many connections were accepted. */
  connections = 0
  respond: Respond
  readonly url: string
  readonly #arrivals = new Set<() => void>()

  constructor(url: string, respond: Respond) {
    this.url = url
    this.respond = respond
  }

  /** Resolves once there are this many deliveries, or one matches. */
  async until(done: number | ((received: Received) => boolean)): Promise<Received[]> {
    await this.#until(() =>
      typeof done === 'number' ? this.received.length >= done : this.received.some(done),
    )
    return this.received
  }

  /** Resolves once this many events were delivered, not counting repetitions. */
  async untilDistinct(count: number): Promise<Received[]> {
    await this.#until(() => this.ids.size >= count)
    return this.received
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#arrivals.add(resolve)
      await promise
    }
  }

  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { headers } = request
    const received = {
      headers,
      body,
      id: String(headers['webhook-id']),
      event: String(headers['webhook-event']),
      plant: BigInt(/"id":(-?\d+)/.exec(body)?.[1] ?? 0),
      at: performance.now(),
    }
    this.ids.add(received.id)
    const index = this.received.push(received) - 1
    this.respond(response, index, received)
    for (const notify of this.#arrivals) notify()
    this.#arrivals.clear()
  }
}

export interface ReceiverOptions {
  /** By default, 204 for every delivery. */
  readonly respond?: Respond
  /** Without TLS. */
  readonly plain?: boolean
  /** The address to listen on. The certificate is valid for the default, 127.0.0.1. */
  readonly host?: string
}

const noContent: Respond = (response) => response.writeHead(204).end()

/** Starts a receiver that is closed when the test ends. */
export async function startReceiver(
  t: Owner,
  { respond = noContent, plain = false, host = '127.0.0.1' }: ReceiverOptions = {},
): Promise<Receiver> {
  const { cert, key } = certificate
  const server = plain ? createHttpServer() : createServer({ cert, key })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver = new Receiver(`${plain ? 'http' : 'https'}://${host}:${port}/hook`, respond)
  server.on('connection', () => {
    receiver.connections += 1
  })
  server.on('request', (request, response) => {
    receiver.receive(request, response).catch(() => {})
  })
  return receiver
}

/** Responds with a status and headers. */
export function status(code: number, headers: Record<string, string> = {}): Respond {
  return (response) => response.writeHead(code, headers).end()
}

/** The plants, in the order of their ids. */
export function plantsIn(received: readonly Received[]): bigint[] {
  return received.map(({ plant }) => plant).sort((one, other) => (one < other ? -1 : 1))
}
