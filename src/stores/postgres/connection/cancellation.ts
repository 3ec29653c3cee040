import { setTimeout } from 'node:timers/promises'
import pg from 'pg'

/** How long stopping a statement can take. Meanwhile, its connection counts toward the limit. */
const TIMEOUT_MS = 5000

/** Requests are repeated, because one that arrives between two statements, or before a pooler sends them, is lost. */
const PAUSE_MS = 100

/** Members of the driver's classes that its types do not declare. */
declare module 'pg' {
  interface Client {
    readonly processID: number
    readonly secretKey: number
  }
  interface Connection {
    connect(port: number | string, host?: string): void
    requestSsl(): void
    cancel(processID: number, secretKey: number): void
  }
}

/**
 * Makes the server stop the statement of a client, which would otherwise wait for its locks even after the connection
 * has closed. Resolves in bounded time: once the statement has ended, or after TIMEOUT_MS. The connection must
 * stay open until then, because a pooler would otherwise forget which server it belongs to.
 *
 * @param running settles when the statement has ended
 */
export async function cancelStatement(client: pg.Client, running: Promise<unknown>): Promise<void> {
  const ended = running.then(
    () => true,
    () => true,
  )
  const deadline = performance.now() + TIMEOUT_MS
  do {
    await requestCancel(client, deadline - performance.now())
  } while (!(await Promise.race([ended, pause(PAUSE_MS)])) && performance.now() < deadline)
}

/**
 * Sends a cancel request on a connection of its own, with the same encryption
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS). Resolves when the
 * server has closed the connection, as it does once it has processed the request, or after a time. If it were closed
 * from this side before, PgBouncer 1.18 would crash (https://github.com/pgbouncer/pgbouncer/issues/801).
 */
async function requestCancel(
  { ssl, host, port, processID, secretKey }: pg.Client,
  timeoutMs: number,
): Promise<void> {
  const connection = new pg.Connection({ ssl })
  const send = () => connection.cancel(processID, secretKey)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  // The statement's own connection shows whether the server is gone.
  connection.on('error', () => resolve())
  connection.once('end', resolve)
  connection.once('connect', ssl ? () => connection.requestSsl() : send)
  connection.once('sslconnect', send)
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
  await Promise.race([closed, pause(timeoutMs)])
  connection.stream.destroy()
}

/** Resolves to false after a time, which does not keep the process running. */
function pause(milliseconds: number): Promise<false> {
  return setTimeout(milliseconds, false, { ref: false })
}
