import pg from 'pg'

/** How long stopping a statement can take. Meanwhile, its connection counts toward the limit. */
const TIMEOUT_MS = 5000

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
 * has closed. Resolves in bounded time: once the statement has ended, or after TIMEOUT_MS. The connection must
 * stay open until then, because a pooler would otherwise forget which server it belongs to.
 *
 * @param running settles when the statement has ended
 */
export async function cancelStatement(client: pg.Client, running: Promise<unknown>): Promise<void> {
  let hasEnded = false
  const setEnded = () => {
    hasEnded = true
  }
  const end = running.then(setEnded, setEnded)
  const deadline = performance.now() + TIMEOUT_MS
  while (!hasEnded && performance.now() < deadline) {
    await requestCancel(client as Cancelable, deadline)
    await limit(end, PAUSE_MS)
  }
}

/**
 * Sends a cancel request on a connection of its own, with the same encryption
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS). Resolves when the
 * server has closed the connection, as it does once it has dealt with the request, or at the deadline. If it were
 * closed from this side before, PgBouncer 1.18 would crash (https://github.com/pgbouncer/pgbouncer/issues/801).
 */
async function requestCancel(
  { ssl, host, port, processID, secretKey }: Cancelable,
  deadline: number,
): Promise<void> {
  const connection = new pg.Connection({ ssl } as object) as CancelConnection
  const send = () => connection.cancel(processID, secretKey)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  // The statement's own connection shows whether the server is gone.
  connection.on('error', () => resolve())
  connection.once('end', resolve)
  connection.once('connect', ssl ? () => connection.requestSsl() : send)
  connection.once('sslconnect', send)
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
  await limit(closed, deadline - performance.now())
  connection.stream.destroy()
}

/** Resolves with the promise, or after a time. */
async function limit(promise: Promise<void>, timeoutMs: number): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  await Promise.race([promise, timedOut])
  clearTimeout(timer)
}
