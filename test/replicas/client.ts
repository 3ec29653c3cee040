import { Agent } from 'node:http'
import { type Answer, checkAnswer } from '../helpers/contract-check.ts'
import type { HttpRequest } from '../load/changes.ts'
import { exchange } from '../load/requests.ts'

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

  async send(url: string, request: HttpRequest): Promise<Answer> {
    const answer = await exchange(this.#agent, url, request, this.#token)
    if (answer === undefined) throw new Error(`no response to ${request.method} ${request.path}`)
    checkAnswer(request.method, request.path, answer)
    return answer
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
