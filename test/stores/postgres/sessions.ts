import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import type { Test } from 'tap'
import type { Connections } from '../../../src/stores/postgres/connection/connections.ts'
import type { PostgresServer } from '../../../tools/postgres/postgres-server.ts'

/** A server that refuses connections: port 1 is reserved, and nothing listens on it. */
export const UNREACHABLE = 'postgres://plants@127.0.0.1:1/postgres'

/** A statement that fails with an error code. */
export function raise(code: string): string {
  return `DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '${code}'; END $$`
}

/** The name of the database that the connections use. */
export async function databaseOf(connections: Connections): Promise<string | undefined> {
  const [row] = await connections.query<{ name: string }>('SELECT current_database() AS name')
  return row?.name
}

/** The name of the database in a URL. */
export function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** How many statements wait for a lock in a database. */
export async function countWaiting(on: PostgresServer, database: string): Promise<number> {
  const rows = await on.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = '${database}' AND wait_event_type = 'Lock'`,
  )
  return rows.length
}

/**
 * Makes the server give up waiting for locks long before the client, until the test ends or `undo` is called. `limits`
 * are the times that the store would have set.
 */
export function shortenLockWaits(t: Test) {
  const { query } = pg.Client.prototype
  const undo = () => {
    pg.Client.prototype.query = query
  }
  t.teardown(undo)
  const limits: unknown[] = []
  const shortened = function (this: pg.Client, text: string, values?: unknown[]) {
    const isLimit = String(text).includes("set_config('lock_timeout'")
    if (isLimit) limits.push(...(values ?? []))
    return Reflect.apply(query, this, [text, isLimit ? ['100ms'] : values])
  }
  pg.Client.prototype.query = shortened as typeof query
  return { limits, undo }
}

/** A host that accepts connections and never sends anything. */
export async function silentHost(t: Test) {
  const sockets: Socket[] = []
  const host = createServer((socket) => {
    socket.on('error', () => {})
    sockets.push(socket)
    host.emit('accepted')
  })
  await once(host.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    host.close()
  })
  const { port } = host.address() as AddressInfo
  const accepted = async (count: number) => {
    while (sockets.length < count) await once(host, 'accepted')
  }
  return { url: `postgres://plants@127.0.0.1:${port}/postgres`, sockets, accepted }
}

/** A proxy for a server. Between `delay` and `continue`, it delays messages that contain `sql`, and those after them. */
export async function delayingProxy(t: Test, url: string, sql: string) {
  let gate: PromiseWithResolvers<void> | undefined
  let delayed = 0
  const { hostname, port } = new URL(url)
  const forward = async (client: Socket, target: Socket) => {
    for await (const message of client) {
      if (gate !== undefined && message.includes(sql)) {
        delayed++
        proxy.emit('delayed')
        await gate.promise
      }
      target.write(message)
    }
  }
  const proxy = createServer((client) => {
    const target = connect(Number(port), hostname)
    for (const socket of [client, target]) socket.on('error', () => {})
    target.pipe(client)
    client.on('close', () => target.destroy())
    forward(client, target).catch(() => target.destroy())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => proxy.close())
  const proxied = new URL(url)
  proxied.port = String((proxy.address() as AddressInfo).port)
  return {
    url: String(proxied),
    delay: () => {
      gate = Promise.withResolvers()
    },
    /** Resolves once a number of connections have been delayed. */
    delayed: async (count: number) => {
      while (delayed < count) await once(proxy, 'delayed')
    },
    continue: () => gate?.resolve(),
  }
}
