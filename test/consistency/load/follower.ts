/** Follows the change feed by long polls, and resumes after each failure where it stopped. */
import { Agent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { parseJson } from '../../../client/json.ts'
import type { Change } from '../../../service/store/change-feed.ts'
import { exchange } from './exchange.ts'

const PAUSE_MS = 50

/** Limit for a page of the feed while the service is healthy, in milliseconds. */
const HEALTHY_MS_MAX = 30_000

export class Follower {
  /** The changes since the start or since the last 410, in the order of their arrival. */
  changes: Change[] = []
  readonly #urls: () => readonly string[]
  readonly #agent = new Agent({ keepAlive: true })
  readonly #ended: Promise<void>
  /** The cursor at which to end. */
  #last: string | undefined
  #isAbandoned = false

  constructor(urls: () => readonly string[]) {
    this.#urls = urls
    this.#ended = this.#follow()
    this.#ended.catch(() => {})
  }

  /**
   * Resolves once the follower has a change, to what it has received until then. An empty page is no end: the feed of
   * PostgreSQL holds back changes that an earlier transaction could still precede.
   */
  async end(last: string): Promise<readonly Change[]> {
    this.#last = last
    await this.#ended
    this.#agent.destroy()
    return this.changes.slice(0, this.#indexOfLast() + 1)
  }

  #indexOfLast(): number {
    return this.changes.findLastIndex(({ cursor }) => cursor === this.#last)
  }

  /** Stops following, wherever the follower is. */
  abandon(): void {
    this.#isAbandoned = true
    this.#agent.destroy()
  }

  async #follow(): Promise<void> {
    let query = '?limit=1000'
    for (let attempt = 0; !this.#isAbandoned; attempt++) {
      const page = await readPage(this.#agent, this.#urls, attempt, query)
      if (page === 'expired') {
        this.changes = []
        query = '?limit=1000'
      } else if (page === undefined) await setTimeout(PAUSE_MS)
      else {
        this.changes.push(...page.changes)
        query = page.next
        if (this.#last !== undefined && this.#indexOfLast() >= 0) return
        // Waiting would delay the end.
        if (page.changes.length === 0) await setTimeout(PAUSE_MS)
      }
    }
  }
}

/** All changes that the feed contains. */
export async function readFeed(urls: () => readonly string[]): Promise<Change[]> {
  const agent = new Agent({ keepAlive: true })
  const changes: Change[] = []
  const end = performance.now() + HEALTHY_MS_MAX
  let query = '?limit=1000'
  for (let attempt = 0; performance.now() < end; attempt++) {
    const page = await readPage(agent, urls, attempt, query)
    if (typeof page !== 'object') await setTimeout(PAUSE_MS)
    else if (page.changes.length === 0) {
      agent.destroy()
      return changes
    } else {
      changes.push(...page.changes)
      query = page.next
    }
  }
  throw new Error(`the feed cannot be read ${query}`)
}

/** Resolves to undefined if there is no response, or one without a page. */
async function readPage(
  agent: Agent,
  urls: () => readonly string[],
  attempt: number,
  query: string,
): Promise<{ changes: Change[]; next: string } | 'expired' | undefined> {
  const all = urls()
  const url = all[attempt % all.length] as string
  const answer = await exchange(agent, url, { method: 'GET', path: `/changes${query}` })
  if (typeof answer !== 'object') return undefined
  if (answer.status === 410) return 'expired'
  const [, next] = /<(\?[^>]*)>; rel="next"/.exec(answer.headers.link ?? '') ?? []
  if (answer.status !== 200 || next === undefined) return undefined
  return { changes: parseJson(answer.body) as Change[], next }
}
