/** A proxy between a client and the service that injects faults. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'
import { type ClientOptions, createClient, type PlantStoreClient } from '../../client/client.ts'
import type { Service } from '../helpers/service/service.ts'

/** Handles a request after the proxy has read all of it. */
export type Fault = (exchange: Exchange) => unknown

export interface Exchange {
  /** Such as `GET /plants/4`. */
  readonly line: string
  /** Sends the request to the service and resolves to the response. */
  readonly forward: () => Promise<Forwarded>
  readonly response: ServerResponse
  /** Destroys the connection to the client. */
  readonly cut: () => void
}

interface Forwarded {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export const passed: Fault = async ({ forward, response }) => {
  const { status, headers, body } = await forward()
  response.writeHead(status, headers).end(body)
}

export const lost: Fault = ({ cut }) => cut()

export const lostResponse: Fault = async ({ forward, cut }) => {
  await forward()
  cut()
}

export const silence: Fault = () => {}

export const HTML = { 'content-type': 'text/html' }

/** The service's response when it is overloaded. */
export const busy: Answering = [
  503,
  { 'content-type': 'application/json', 'retry-after': 0 },
  '{"error":50301,"message":"the store is busy"}',
]

/** The service's response to a list that affects too much. */
export const tooLarge = answered(
  413,
  { 'content-type': 'application/json' },
  '{"error":41302,"message":"the list affects more than 8388608 bytes of stored plants"}',
)

type Answering = [status: number, headers?: object, body?: string]

/** Responds without forwarding the request. */
export function answered(...[status, headers, body]: Answering): Fault {
  return ({ response }) => response.writeHead(status, { ...headers }).end(body)
}

/** Forwards the request, but replaces the response. */
export function answeredInstead(...[status, headers, body]: Answering): Fault {
  return async ({ forward, response }) => {
    await forward()
    response.writeHead(status, { ...headers }).end(body)
  }
}

/** The error of an attempt that may have taken effect, and how to cause it when it has. */
export const AMBIGUOUS: Readonly<Record<string, Fault>> = {
  ConnectionError: lostResponse,
  ServiceError: answeredInstead(...busy),
  UnexpectedResponseError: answeredInstead(504),
}

export interface FaultyProxy {
  readonly url: string
  /** The requests so far, such as `GET /plants/4`. */
  readonly requests: { readonly line: string }[]
  /** The faults of the next requests, in order. All later requests are forwarded. */
  faults: Fault[]
}

/** A client whose requests meet these faults, in order, with short delays between retries. */
export async function connectThrough(
  t: Test,
  service: Service,
  faults: Fault[] = [],
  options: Partial<ClientOptions> = {},
): Promise<{ client: PlantStoreClient; proxy: FaultyProxy }> {
  const proxy = await startFaultyProxy(t, service, faults)
  const { token } = service
  return { proxy, client: createClient({ url: proxy.url, token, retryDelay: 1, ...options }) }
}

/** Makes timers of hours end at once until the test ends. Returns the hours, in which those of later timers appear. */
export function shortenHours(t: Test): readonly number[] {
  const hours: number[] = []
  const start = setTimeout
  const shortened = (callback: () => void, milliseconds: number, ...args: []) => {
    if (milliseconds < 3_600_000) return start(callback, milliseconds, ...args)
    hours.push(Math.round(milliseconds / 3_600_000))
    return start(callback, 1, ...args)
  }
  t.capture(globalThis, 'setTimeout', shortened)
  return hours
}

/** Resolves to the error that a call rejects with. */
export async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: unknown) => error,
  )
}

/** Starts a proxy that strips a prefix from the path. It stops when the test ends. */
export async function startFaultyProxy(
  t: Test,
  service: Service,
  faults: Fault[] = [],
  prefix = '',
): Promise<FaultyProxy> {
  const requests: { line: string }[] = []
  const server = createServer(async (incoming, response) => {
    const { method, url = '', socket } = incoming
    const line = `${method} ${url}`
    requests.push({ line })
    const body = await buffer(incoming)
    const fault = proxy.faults.shift() ?? passed
    const cut = () => socket.destroy()
    const exchange = {
      line,
      forward: () => forward(service.port, incoming, url.slice(prefix.length), body),
      response,
      cut,
    }
    // The service can stop while the request waits for changes.
    await Promise.resolve(fault(exchange)).catch(cut)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const proxy = { url: `http://127.0.0.1:${port}${prefix}`, requests, faults }
  return proxy
}

async function forward(
  port: number,
  { method, headers }: IncomingMessage,
  path: string,
  body: Buffer,
): Promise<Forwarded> {
  const outgoing = request({ host: '127.0.0.1', port, agent: false, method, path, headers })
  outgoing.end(body)
  const [response]: IncomingMessage[] = await once(outgoing, 'response')
  if (response === undefined) throw new Error('no response')
  return {
    status: Number(response.statusCode),
    headers: response.headers,
    body: await buffer(response),
  }
}
