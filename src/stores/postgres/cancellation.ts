import { setTimeout } from 'node:timers/promises'
import pg from 'pg'

/** How long stopping a statement can take. Meanwhile, its connection counts toward the limit. */
const TIMEOUT_MS = 1000

/** A request is lost if it arrives between two statements, so it is repeated. */
const ATTEMPTS_MAX = 4

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
 * has closed. Resolves in bounded time: once the statement has ended, or after TIMEOUT_MS. The connection must stay
 * open until then, because a pooler forgets which server it belongs to.
 *
 * @param running settles when the statement has ended
 */
export async function cancelStatement(client: pg.Client, running: Promise<unknown>): Promise<void> {
  const pause = TIMEOUT_MS / ATTEMPTS_MAX
  let hasEnded = false
  const end = running.then(
    () => true,
    () => true,
  )
  for (let attempt = 0; attempt < ATTEMPTS_MAX && !hasEnded; attempt++) {
    const paused = new AbortController()
    const { signal } = paused
    const timedOut = setTimeout(pause, false, { signal }).catch(() => false)
    requestCancel(client as Cancelable, signal)
    hasEnded = await Promise.race([end, timedOut])
    paused.abort()
  }
}

/**
 * Sends a cancel request on a connection of its own, with the same encryption
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS). Failures are ignored.
 *
 * @param signal closes the connection
 */
function requestCancel({ ssl, host, port, processID, secretKey }: Cancelable, signal: AbortSignal) {
  const connection = new pg.Connection({ ssl } as object) as CancelConnection
  const send = () => connection.cancel(processID, secretKey)
  connection.on('error', () => {})
  connection.once('connect', ssl ? () => connection.requestSsl() : send)
  connection.once('sslconnect', send)
  // `stream` becomes the TLS socket later.
  signal.addEventListener('abort', () => connection.stream.destroy(), { once: true })
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
}
