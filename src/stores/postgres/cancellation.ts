import { setTimeout } from 'node:timers/promises'
import pg from 'pg'

/** How long stopping a statement can take. Meanwhile, its connection counts toward the limit. */
const TIMEOUT_MS = 5000

/** How long the server can take to accept a request. A server that takes longer is not responding at all. */
const REQUEST_TIMEOUT_MS = 1000

/** Requests are repeated, because one that arrives between two statements, or before a pooler sends them, is lost. */
const PAUSE_MS = 100

/** Members of the driver's classes that its types do not declare. */
interface Cancelable extends pg.Client {
  readonly processID: number
  readonly secretKey: number
}
interface CancelConnection extends pg.Connection {
  connect(port: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}

/**
 * Makes the server stop the statement of a client, which would otherwise wait for its locks even after the connection
 * has closed. Resolves in bounded time: once the statement has ended, or when there is no hope. The connection must
 * stay open until then, because a pooler forgets which server it belongs to.
 *
 * @param running settles when the statement has ended
 */
export async function cancelStatement(client: pg.Client, running: Promise<unknown>): Promise<void> {
  const ended = new AbortController()
  const end = () => ended.abort()
  running.then(end, end)
  const { signal } = ended
  const deadline = performance.now() + TIMEOUT_MS
  while (!signal.aborted && performance.now() < deadline) {
    const isAccepted = await requestCancel(client as Cancelable, signal)
    if (!isAccepted) return
    await setTimeout(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
}

/**
 * Sends a cancel request on a connection of its own, with the same encryption
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS).
 *
 * @param signal ends the wait
 * @returns whether the connection has closed, as it does once the server has dealt with the request
 */
async function requestCancel(
  { ssl, host, port, processID, secretKey }: Cancelable,
  signal: AbortSignal,
): Promise<boolean> {
  const connection = new pg.Connection({ ssl } as object) as CancelConnection
  const send = () => connection.cancel(processID, secretKey)
  // The statement's own connection shows whether the server is gone.
  connection.on('error', () => {})
  connection.once('connect', ssl ? () => connection.requestSsl() : send)
  connection.once('sslconnect', send)
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  connection.once('end', () => resolve(true))
  const limit = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)])
  limit.addEventListener('abort', () => {
    resolve(false)
    // `stream` is the TLS socket by now.
    connection.stream.destroy()
  })
  return promise
}
