/** Services with several HTTP threads, and connections to each of the threads. */

import { on } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Scope } from '../../../core/contract/scopes.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { AccessTokens } from '../../../src/auth/access-tokens.ts'
import {
  type PlantStoreOptions,
  type RunningPlantStore,
  startPlantStore,
} from '../../../src/index.ts'
import { openStore } from '../../../src/stores/engines.ts'
import { inMemory, makeFolder } from '../../../tools/tap/temporary-folders.ts'
import type { Owner } from '../processes/command.ts'
import type { Answer } from './contract-check.ts'
import { answersOf, Caller } from './service.ts'

export const THREADS = 4

/** An open connection, and the thread that serves it. */
export interface Line {
  readonly socket: Socket
  readonly thread: string
}

/** A service in this process, with four HTTP threads. */
export class ThreadedService extends Caller {
  readonly database: string
  readonly adminUrl: string | undefined
  readonly close: () => Promise<void>

  constructor({ url, adminUrl, token, close }: RunningPlantStore, database: string) {
    super(Number(new URL(url).port), token)
    this.database = database
    this.adminUrl = adminUrl
    this.close = close
  }

  /** Issues a token through another connection to the database. */
  issueToken(name: string, scopes: readonly Scope[]): Promise<string> {
    return this.#withTokens(async (tokens) => (await tokens.issue({ name, scopes })) as string)
  }

  /** Revokes a token through another connection to the database. */
  revokeToken(name: string): Promise<boolean> {
    return this.#withTokens((tokens) => tokens.revoke(name))
  }

  async #withTokens<Result>(use: (tokens: AccessTokens) => Promise<Result>): Promise<Result> {
    const options = { database: this.database, lockTimeout: 30_000, sameThread: true }
    const store = await openStore(options)
    try {
      return await use(new AccessTokens(new TokenStore(store)))
    } finally {
      await store.close()
    }
  }
}

/** Starts a service with four HTTP threads, on a new database unless the options name one. */
export async function startThreads(
  t: Owner,
  options: PlantStoreOptions = {},
): Promise<ThreadedService> {
  const { database = join(makeFolder(t, inMemory()), 'plants.db') } = options
  let close = async () => {}
  t.teardown(() => close())
  const all = { threads: THREADS, lockTimeout: 30_000, ...options, database }
  const running = await startPlantStore(all)
  close = running.close
  return new ThreadedService(running, database)
}

/** Where to connect, or a function that does. */
export type Target =
  | { readonly port: number; readonly host?: string }
  | (() => Socket | Promise<Socket>)

/** Opens connections until every thread serves `each` of them, and closes those beyond. */
export async function openLines(t: Owner, target: Target, each = 1): Promise<Line[]> {
  const byThread = new Map<string, Line[]>()
  while (byThread.size < THREADS || [...byThread.values()].some(({ length }) => length < each)) {
    const line = await openLine(t, target)
    const others = byThread.get(line.thread) ?? []
    if (others.length < each) byThread.set(line.thread, [...others, line])
    else line.socket.destroy()
  }
  return [...byThread.values()].flat()
}

/** Opens a connection and finds out which thread serves it. Rejects if the connection is closed instead. */
export async function openLine(t: Owner, target: Target): Promise<Line> {
  const open =
    typeof target === 'function' ? target : () => connect(target.port, target.host ?? '127.0.0.1')
  const socket = await open()
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  const answer = await ask(socket, 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n')
  return { socket, thread: threadOf(answer) }
}

/** The part of a request's id that distinguishes threads. */
export function threadOf({ headers }: Answer): string {
  return String(headers['x-request-id']).replace(/-[^-]*$/, '')
}

/** Sends a request, and resolves to its response. Rejects if the connection closes before that. */
export async function ask(socket: Socket, request: string): Promise<Answer> {
  const received = on(socket, 'data', { close: ['close'] })
  socket.write(request)
  let bytes = Buffer.alloc(0)
  for await (const [chunk] of received) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    const answer = completeAnswer(bytes)
    if (answer !== undefined) return answer
  }
  throw new Error(`the connection closed before a response: ${bytes}`)
}

function completeAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [answer] = answersOf(bytes)
  const isComplete =
    Buffer.byteLength(answer?.body ?? '') === Number(answer?.headers['content-length'] ?? 0)
  return isComplete ? answer : undefined
}

/** A request with a token and, if it has a body, its length and type. */
export function formatRequest(token: string, line: string, body = ''): string {
  const type = line.startsWith('PATCH') ? 'application/merge-patch+json' : 'application/json'
  const headers = [
    `${line} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    ...(body === '' ? [] : [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return `${headers.join('\r\n')}\r\n\r\n${body}`
}

/** Resolves once a connection is closed. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}
