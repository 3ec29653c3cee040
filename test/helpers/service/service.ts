import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type DestinationStream, pino } from 'pino'
import type { Test } from 'tap'
import {
  type ContractDocument,
  extendContract,
  loadContract,
  sortableMembers,
} from '../../../core/contract/contract.ts'
import type { Scope } from '../../../core/contract/scopes.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { declareIndexes } from '../../../service/sorting.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { AccessTokens } from '../../../src/auth/access-tokens.ts'
import { issuerKeys } from '../../../src/auth/issuer-keys.ts'
import { type Config, defaultConfig, storeOptions } from '../../../src/config/config.ts'
import { adoptFields } from '../../../src/start/field-adoption.ts'
import { openStore } from '../../../src/stores/engines.ts'
import type { Store, ThreadStore } from '../../../src/stores/shared/store.ts'
import { type HttpServerOptions, prepareHttpServer } from '../../../src/threads/http-server.ts'
import { type Answer, type AnswerCheck, answerCheck, checkAnswer } from './contract-check.ts'
import { type Engine, type Place, sqlite } from './engine.ts'

interface StoredRow {
  readonly id: bigint
  readonly name: string
  readonly tag: string | null
}

export interface Call {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  /** Strings and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown
  /** By default a token with all scopes; `null` sends none. */
  readonly token?: string | null
}

export interface StartOptions
  extends Pick<
    HttpServerOptions,
    'clock' | 'faults' | 'logsForAll' | 'requestMetrics' | 'responseTimeoutMs' | 'threads'
  > {
  readonly config?: Partial<Config>
  /** The own fields of the contract. Without them, the service neither stores nor hides fields. */
  readonly fields?: readonly OwnField[]
  /** The names of members of every contract by which plants can be sorted. */
  readonly sortable?: readonly string[]
  /** The own fields that the database already has. */
  readonly storedFields?: readonly OwnField[]
  /** Whether the database is in a file, which other connections can open. By default, it is in memory. */
  readonly inFile?: boolean
  /** A service with a file, which this one uses too. By default, it has its own database. */
  readonly sharedWith?: Service
  /** Methods that replace the store's. */
  readonly instead?: Partial<ThreadStore>
  /** Receives the lines of the log. */
  readonly logger?: { readonly level?: string; readonly stream: DestinationStream }
  /** See issuerKeys. */
  readonly issuer?: { readonly cooldownMs?: number; readonly timeoutMs?: number }
}

/** Sends requests to a service. */
export class Caller {
  readonly port: number
  readonly token: string
  readonly #check: AnswerCheck

  constructor(port: number, token: string, check: AnswerCheck = checkAnswer) {
    this.port = port
    this.token = token
    this.#check = check
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Sends a request, by default a create with a valid token, and checks the response against the contract. */
  async call(call: Call = {}): Promise<Answer & { json: unknown }> {
    const { method = 'POST', path = '/plants', token = this.token, body, headers } = call
    const answer = await send(this.port, {
      method,
      path,
      headers: {
        ...(body !== undefined && { 'content-type': contentTypeOf(method, path) }),
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : jsonOf(body),
    })
    this.#check(method, path, answer)
    const isJson = answer.headers['content-type'] === 'application/json' && answer.body !== ''
    return { ...answer, json: isJson ? parseExact(answer.body) : undefined }
  }
}

interface ServiceParts {
  readonly app: FastifyInstance
  /** Stops the service as its operator would. */
  readonly close: () => Promise<void>
  readonly store: Store
  readonly place: Place
  readonly port: number
  readonly token: string
  readonly check: AnswerCheck
}

/** The service as in production, with its own socket and storage. */
export class Service extends Caller {
  readonly app: FastifyInstance
  readonly close: () => Promise<void>
  readonly store: Store
  readonly place: Place

  constructor({ app, close, store, place, port, token, check }: ServiceParts) {
    super(port, token, check)
    this.app = app
    this.close = close
    this.store = store
    this.place = place
  }

  get database(): string {
    return this.place.database
  }

  /** A plant in the database. */
  async stored(id: bigint): Promise<StoredRow | undefined> {
    const plant = await this.store.get(id)
    return plant && { id, name: plant.name, tag: plant.tag ?? null }
  }

  /** Number of plants in the database, or of those with the given name. */
  async count(name?: string): Promise<number> {
    const pages = await Array.fromAsync(this.store.exportPlants())
    return pages.flat().filter((plant) => name === undefined || plant.name === name).length
  }

  async issueToken(name: string, scopes: readonly Scope[], lifetimeMs?: number): Promise<string> {
    const request = { name, scopes, ...(lifetimeMs !== undefined && { lifetimeMs }) }
    return (await new AccessTokens(new TokenStore(this.store)).issue(request)) as string
  }
}

let engine: Engine = sqlite

/** Long enough that a slow machine does not cause a 503. */
const PATIENCE = { lockTimeout: 30_000 }

/** Sets the engine of services that are started until the test ends. The default is SQLite. */
export function startOn(t: Test, other: Engine): void {
  engine = other
  t.teardown(() => {
    engine = sqlite
  })
}

/** Starts a service that stops when the test ends. A test can start several. */
export async function startService(t: Test, options: StartOptions = {}): Promise<Service> {
  const { fields, sortable, storedFields, sharedWith, inFile = false } = options
  const place = sharedWith?.place ?? (await engine(t, { inFile }))
  // Teardowns run in reverse order, so the service stops before its place is removed.
  let stop = async () => {}
  t.teardown(() => stop())
  const { instead, logger, issuer, config: settings, ...parts } = options
  const config = { ...defaultConfig(), ...PATIENCE, ...settings, database: place.database }
  const store = await openStore(storeOptions(config))
  const contract = extendContract(loadContract(), fields ?? [], sortable)
  if (storedFields !== undefined) await adoptFields(store, storedFields, { hide: false })
  const hiddenFields = fields && (await adoptFields(store, fields, { hide: false }))
  await declareIndexes(store, sortableMembers(contract))
  const log = logger && pino({ level: logger.level ?? 'info' }, logger.stream)
  const { app, listen, close } = await prepareHttpServer({
    ...parts,
    config,
    contract,
    ...(hiddenFields && { hiddenFields }),
    store: withInstead(store, instead),
    log,
    readKeys: issuerKeys(config, log, issuer),
  })
  const request = { name: 'test', scopes: ['read', 'write'] } as const
  const issued = sharedWith?.token ?? (await new AccessTokens(new TokenStore(store)).issue(request))
  const { addresses } = await listen({ hosts: ['127.0.0.1'], port: 0 })
  stop = async () => {
    app.server.closeAllConnections()
    await close()
    await store.close()
  }
  const { port } = addresses[0] as AddressInfo
  const check = checkOf(contract)
  return new Service({ app, close, store, place, port, token: issued as string, check })
}

function checkOf(contract: ContractDocument): AnswerCheck {
  return contract === loadContract() ? checkAnswer : answerCheck(contract)
}

function withInstead(store: ThreadStore, instead: Partial<ThreadStore> = {}): ThreadStore {
  return new Proxy(store, {
    get: (_target, name) => {
      const method = instead[name as keyof ThreadStore] ?? store[name as keyof ThreadStore]
      return method.bind(store)
    },
  })
}

/** Makes requests that have not arrived completely time out at the service's next check, within a second. */
export function expireRequests({ app }: Service): void {
  Object.assign(app.server, { headersTimeout: 1, requestTimeout: 1 })
}

/** Parses JSON in which each id, and each integer that a double could change, becomes a bigint. */
export function parseExact(json: string): unknown {
  return JSON.parse(json, exactInteger)
}

function exactInteger(key: string, value: unknown, context?: { source: string }): unknown {
  if (typeof value !== 'number' || context === undefined) return value
  const { source } = context
  const isExact = key !== 'id' && (Number.isSafeInteger(value) || !/^-?\d+$/.test(source))
  return isExact ? value : BigInt(source)
}

/** A value as JSON; undefined as undefined. */
export function jsonOf(body: unknown): string | undefined {
  if (body === undefined) return undefined
  // JSON.stringify rejects bigints, which ids are.
  return JSON.stringify(body, (_key, value) =>
    typeof value === 'bigint' ? (JSON as unknown as RawJson).rawJSON(value.toString()) : value,
  )
}

interface RawJson {
  rawJSON(text: string): unknown
}

interface Request {
  method: string
  path: string
  headers: OutgoingHttpHeaders
  body: string | Uint8Array | undefined
}

export function send(port: number, { body, ...request }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { host: '127.0.0.1', port, agent: false, ...request },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode as number,
            headers: response.headers as Answer['headers'],
            body: Buffer.concat(chunks).toString(),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/**
 * Writes raw bytes to the service, and resolves to the responses when the connection ends.
 *
 * @param halfClose whether to end the client's side after the bytes
 */
export async function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  halfClose = true,
): Promise<Answer[]> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  if (halfClose) socket.end()
  const answers = answersOf(await readAll(socket))
  const [, method, target = ''] =
    /^([A-Z]+) (?:https?:\/\/[^/?\s]*)?(\S*) HTTP/i.exec(bytes.toString()) ?? []
  const path = /^[/*]/.test(target) ? target : `/${target}`
  for (const answer of answers) checkAnswer(method, path, answer)
  return answers
}

export function readAll(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(Buffer.concat(chunks)))
  })
}

/** Parses HTTP/1.1 responses that have a Content-Length or no body. Interim responses (1xx) are left out. */
export function answersOf(bytes: Buffer): Answer[] {
  const answers: Answer[] = []
  let rest = bytes
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`not HTTP: ${rest}`)
    const [first = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0)
    const status = Number(first.split(' ')[1])
    if (status >= 200) {
      answers.push({ status, headers, body: rest.subarray(end + 4, bodyEnd).toString() })
    }
    rest = rest.subarray(bodyEnd)
  }
  return answers
}

/** A PATCH of one plant is a merge patch, unlike a list of changes. */
function contentTypeOf(method: string, path: string): string {
  const isMergePatch = method === 'PATCH' && path !== '/plants'
  return isMergePatch ? 'application/merge-patch+json' : 'application/json'
}
