import { Agent, request } from 'node:http'
import { type Answer, checkAnswer } from '../helpers/contract-check.ts'

export interface Call {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  /** The version that the plant must have, as an ETag. */
  readonly expected?: string | undefined
}

/** Sends requests to replicas over persistent connections, and checks the responses against the contract. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #token: string

  constructor(token: string) {
    this.#token = token
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Sends a request, by default a create. */
  send(url: string, call: Call): Promise<Answer> {
    const { method = 'POST', path = '/plants', body = '', expected } = call
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body !== '' && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
      ...(expected !== undefined && { 'if-match': expected }),
    }
    return new Promise((resolve, reject) => {
      const outgoing = request(url + path, { agent: this.#agent, method, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('error', reject)
        response.on('end', () => {
          const answer: Answer = {
            status: response.statusCode as number,
            headers: response.headers as Answer['headers'],
            body: text,
          }
          try {
            checkAnswer(method, path, answer)
            resolve(answer)
          } catch (error) {
            reject(error)
          }
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
}

/** Calls `work` for all items in order, at most `limit` at a time. */
export async function forEachLimited<Item>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: limit }, worker))
}
