/**
 * Clients that contend on the same plants: each sends one call at a time, of an operation that its seed chooses, and
 * records it in the history.
 */
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { parseJson } from '../../../client/json.ts'
import { extendContract, loadContract } from '../../../core/contract/contract.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { type Answer, type AnswerCheck, answerCheck } from '../../helpers/service/contract-check.ts'
import { Random } from '../../hostile/fuzz/random.ts'
import { type Arguments, type Call, type History, isOpen } from '../history.ts'
import type { HttpRequest, Operation } from '../operations/operation.ts'
import { OPERATIONS } from '../operations/operations.ts'
import { type Content, contentOf, versionOf } from '../operations/register.ts'
import { exchange } from './exchange.ts'

const CLIENTS = 32

/** The pause of a client after a failure. Waiting for Retry-After would hide how short an outage is. */
const PAUSE_MS = 50

/**
 * After this many failures in a row, a client only reads until the service recovers. Otherwise, an outage would leave
 * more changes open than the judges can follow.
 */
const FAILURES_MAX = 2

/** Each operation as often as its weight says. */
const CHOICES = Object.entries(OPERATIONS).flatMap(([name, { weight }]) =>
  Array<string>(weight).fill(name),
)

export interface LoadOptions {
  /** Where the service can be reached now. A client that loses its connection uses the next one. */
  readonly urls: () => readonly string[]
  readonly history: History
  /** The own fields of the contract. */
  readonly fields?: readonly OwnField[] | undefined
  readonly clients?: number
}

export class Load {
  /** Responses that the contract does not document, and those with 500. */
  readonly undocumented: string[] = []
  readonly #options: LoadOptions
  readonly #check: AnswerCheck
  readonly #agent = new Agent({ keepAlive: true })
  readonly #clients: Promise<unknown>
  #isEnded = false
  #answered = 0
  readonly #waiting = new Set<() => void>()

  constructor(options: LoadOptions) {
    this.#options = options
    const { clients = CLIENTS, fields = [] } = options
    this.#check = answerCheck(extendContract(loadContract(), fields))
    this.#clients = Promise.all(
      Array.from({ length: clients }, (_, number) => this.#client(number)),
    )
    this.#clients.catch(() => {})
  }

  /** How many calls have a known outcome. */
  get answered(): number {
    return this.#answered
  }

  /** Resolves once this many more calls have a known outcome, or the time is over. */
  async answers(number: number, timeMs: number): Promise<void> {
    const enough = this.#answered + number
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => {
      this.#waiting.delete(check)
      clearTimeout(timer)
      resolve()
    }
    const check = () => {
      if (this.#answered >= enough) end()
    }
    const timer = setTimeout(end, timeMs)
    this.#waiting.add(check)
    check()
    return promise
  }

  /** Resolves once every client has its last response. */
  async end(): Promise<void> {
    this.#isEnded = true
    await this.#clients
    this.#agent.destroy()
  }

  readonly #record: Recorder = (request, answer) => {
    const what = whatIsWrong(this.#check, request, answer)
    if (what !== undefined) this.undocumented.push(`${request.method} ${request.path}: ${what}`)
  }

  async #client(number: number): Promise<void> {
    const { history, urls, fields } = this.#options
    const client = new Client(number, history.seed, fields !== undefined)
    let server = number
    while (!this.#isEnded) {
      const call = client.plan()
      const all = urls()
      const url = all[server % all.length] as string
      const isSent = await perform(this.#agent, url, call, this.#record)
      if (isSent) history.calls.push(call)
      if (isSent && !isOpen(call)) {
        client.learn(call)
        this.#answered += 1
        for (const check of this.#waiting) check()
      } else {
        if (isSent) client.failed()
        if (call.answer === undefined) server += 1
        await pause(PAUSE_MS)
      }
    }
  }
}

/** What one client knows, and what it does next. */
class Client {
  readonly #number: number
  readonly #random: Random
  readonly #hasFields: boolean
  readonly #seen = new Map<bigint, Content>()
  readonly #versions = new Map<bigint, string>()
  #serial = 0
  /** A change to repeat, because its outcome is unknown. */
  #unclear: Call | undefined
  /** How many calls in a row have failed. */
  #failures = 0

  constructor(number: number, seed: number, hasFields: boolean) {
    this.#number = number
    this.#hasFields = hasFields
    this.#random = new Random(seed, number)
  }

  plan(): Call {
    const repeated = this.#unclear
    this.#unclear = undefined
    const canChange = this.#failures < FAILURES_MAX
    if (canChange && repeated !== undefined && this.#random.oneIn(2)) {
      return this.#call(repeated.operation, repeated.arguments)
    }
    const name = canChange ? this.#random.pick(CHOICES) : 'get'
    const { plan } = OPERATIONS[name] as Operation
    const call = this.#call(
      name,
      plan(this.#random, {
        serial: () => `${this.#number}.${++this.#serial}`,
        seen: this.#seen,
        versions: this.#versions,
        hasFields: this.#hasFields,
      }),
    )
    this.#unclear = call
    return call
  }

  failed(): void {
    this.#failures += 1
  }

  /** Remembers the contents and the version in a response. */
  learn({ arguments: { id, plants = [] }, answer, operation }: Call): void {
    this.#unclear = undefined
    this.#failures = 0
    if (answer?.status !== 200) return
    if (operation === 'create') for (const plant of plants) this.#saw(plant.id, contentOf(plant))
    else if (id !== undefined && answer.body !== '') {
      this.#saw(id, contentOf(parseJson(answer.body) as Content))
    }
  }

  #saw(id: bigint, content: Content): void {
    this.#seen.set(id, content)
    this.#versions.set(id, versionOf(content))
  }

  #call(operation: string, given: Arguments): Call {
    return { client: this.#number, operation, arguments: given, called: performance.now() }
  }
}

/** Receives a request and its response. */
type Recorder = (request: HttpRequest, answer: Answer) => void

/**
 * Sends a call and adds its response to it.
 *
 * @returns whether the call was sent
 */
export async function perform(
  agent: Agent,
  url: string,
  call: Call,
  record: Recorder = () => {},
): Promise<boolean> {
  const request = (OPERATIONS[call.operation] as Operation).request(call.arguments)
  const answer = await exchange(agent, url, request)
  call.ended = performance.now()
  if (answer === 'unsent') return false
  if (answer === undefined) return true
  const { status, body, headers } = answer
  const { etag, link } = headers
  call.answer = { status, body, ...(etag && { etag }), ...(link && { link }) }
  record(request, answer)
  return true
}

function whatIsWrong(
  check: AnswerCheck,
  { method, path }: HttpRequest,
  answer: Answer,
): string | undefined {
  try {
    check(method, path, answer)
    // The contract documents 500, but nothing here should cause it.
    return answer.status === 500 ? answer.body : undefined
  } catch (error) {
    return (error as Error).message
  }
}
