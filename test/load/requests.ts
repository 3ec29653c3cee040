import { Agent, request } from 'node:http'
import { type Answer, checkAnswer } from '../helpers/contract-check.ts'
import type { HttpRequest } from './changes.ts'

/** The token that clients send by default. */
export const TOKEN = 'a-token-for-the-test'

/** Limit for a response, in milliseconds: several times the service's own limits. */
const RESPONSE_MS_MAX = 60_000

/** Requests to several replicas. A client that loses its replica turns to the next one, as with a load balancer. */
export class Requests {
  /** Number of responses by method and status; without a response, the status is `none`. */
  readonly statuses: Record<string, number> = {}
  /** What is wrong with each response that the contract does not document. */
  readonly undocumented: string[] = []
  /** Time of the slowest response, in milliseconds. */
  slowest = 0
  /** Where to send the next requests. */
  urls: readonly string[]
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true })
  /** How often each client has turned to the next replica. */
  readonly #turns: number[] = []

  constructor(urls: readonly string[], token = TOKEN) {
    this.urls = urls
    this.#token = token
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Resolves to undefined if the connection failed. */
  async send(client: number, request: HttpRequest): Promise<Answer | undefined> {
    const turn = this.#turns[client] ?? client
    const begin = performance.now()
    const url = this.urls[turn % this.urls.length] as string
    const response = await exchange(this.#agent, url, request, this.#token)
    this.slowest = Math.max(this.slowest, performance.now() - begin)
    const { method, path } = request
    const status = `${method} ${response?.status ?? 'none'}`
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    if (response === undefined) this.#turns[client] = turn + 1
    else this.#check(method, path, response)
    return response
  }

  #check(method: string, path: string, response: Answer): void {
    try {
      checkAnswer(method, path, response)
      // The contract documents 500, but nothing here should cause it.
      if (response.status === 500) throw new Error(response.body)
    } catch (error) {
      this.undocumented.push(`${method} ${path}: ${(error as Error).message}`)
    }
  }
}

/** Resolves to undefined if the connection fails before the response is complete. */
export function exchange(
  agent: Agent,
  url: string,
  { path, method, body = '', expected }: HttpRequest,
  token = TOKEN,
): Promise<Answer | undefined> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== '' && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
    ...(expected !== undefined && { 'if-match': `"${expected}"` }),
  }
  const options = { agent, method, headers, timeout: RESPONSE_MS_MAX }
  return new Promise((resolve) => {
    const outgoing = request(url + path, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', () => resolve(undefined))
      response.on('end', () => {
        const status = response.statusCode as number
        resolve({ status, headers: response.headers as Answer['headers'], body: text })
      })
    })
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.on('error', () => resolve(undefined))
    outgoing.end(body)
  })
}
