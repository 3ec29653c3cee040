import { isUtf8 } from 'node:buffer'
import { type CallOptions, createClient, type PlantStoreClient } from '../../client/client.ts'
import { loadContract } from '../../core/contract/contract.ts'
import { compileComponent } from '../../core/contract/validators.ts'
import { limits } from '../../core/generated/limits.gen.ts'
import { BACKSLASH, COMMA, OPENING_BRACE, OPENING_BRACKET, QUOTE } from '../../core/json/bytes.ts'
import type { OwnField } from '../../core/members/own-fields.ts'
import type { Change } from '../../service/store/change-feed.ts'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import { fetchBounded } from '../system/bounded-fetch.ts'
import { brokenAnswer, explainFailure } from './source-failures.ts'
import { SourcePlants } from './source-plants.ts'

/** The contract's limit for pages. */
export const PAGE_SIZE = Math.min(limits.listPlants.limit.maximum, limits.listChanges.limit.maximum)

/** Bounds the memory. A page has some 2 MiB at most, unless the source accepts larger names. */
const ANSWER_BYTES_MAX = 2 ** 26

/** Bounds the time and memory of parsing. A change has some ten values, and one for each own field. */
const ANSWER_VALUES_MAX = 100_000

/** After this time without any data, a connection no longer works. A source waits for less than this. */
const SILENCE_MS_MAX = 8000

/** Plants, and the id after which the next ones follow. Undefined if there are no more. */
export interface PlantPage {
  readonly plants: readonly StoredPlant[]
  readonly next: bigint | undefined
}

/** Changes, and the cursor after them. */
export interface FeedPage {
  readonly changes: readonly Change[]
  readonly cursor: string
}

/** What a mirror reads. */
export interface MirrorSource {
  readonly url: string
  readPlants(after?: bigint, limit?: number): Promise<PlantPage>
  readChanges(after: string, wait?: number, limit?: number): Promise<FeedPage>
}

export interface SourceOptions {
  /** The own fields that the plants of the mirror can have. */
  readonly fields?: readonly OwnField[]
  /** Ends requests with its reason. */
  readonly signal?: AbortSignal | undefined
  /** How often to repeat a request that fails temporarily. */
  readonly retries?: number | undefined
}

/**
 * Reads from the service that is mirrored, and refuses answers that no plant store sends.
 *
 * Every method throws SourceUnavailable, MirrorError, or the reason of the signal.
 */
export class Source implements MirrorSource {
  readonly url: string
  readonly #client: PlantStoreClient
  readonly #options: CallOptions
  readonly #plants: SourcePlants
  readonly #isCursor = compileComponent(loadContract(), 'Cursor')

  /**
   * @param token of the source, with the scope `read`
   * @throws TypeError if the URL is not that of a service
   */
  constructor(url: string, token: string, options: SourceOptions = {}) {
    const { fields = [], signal, retries = 0 } = options
    this.#plants = new SourcePlants(fields)
    const { int64Fields } = this.#plants
    const valuesMax = ANSWER_VALUES_MAX + fields.length * PAGE_SIZE
    const fetch = (request: Request) => fetchAnswer(request, valuesMax)
    this.#client = createClient({ url, token, fetch, retries, int64Fields })
    this.#options = { signal }
    this.url = url
  }

  /** Reads some of the plants with a greater id, or the first ones. */
  async readPlants(after?: bigint, limit = PAGE_SIZE): Promise<PlantPage> {
    const query = { limit, ...(after !== undefined && { after }) }
    const page = await this.#client.listPlants(query, this.#options).catch(rethrow)
    const plants = page.plants.map((plant) => this.#plants.read(plant))
    let next = after
    for (const plant of plants) {
      if (next !== undefined && plant.id <= next) {
        throw brokenAnswer(`plant ${plant.id} after plant ${next}`)
      }
      next = plant.id
    }
    // Only a page without plants is the last one: a proxy can remove a link.
    return { plants, next: plants.at(-1)?.id }
  }

  /** Reads some of the changes after a cursor. `latest` is the end of the feed. */
  async readChanges(after: string, wait = 0, limit = PAGE_SIZE): Promise<FeedPage> {
    const query = { after, limit, wait }
    const page = await this.#client.listChanges(query, this.#options).catch(rethrow)
    const changes = page.changes.map((change): Change => {
      if (change.plant === undefined) return change
      return { ...change, plant: this.#plants.read({ ...change.plant, id: change.id }) }
    })
    const cursors = new Set([after])
    for (const { cursor } of changes) {
      if (cursors.has(cursor)) throw brokenAnswer('a change twice')
      cursors.add(cursor)
    }
    const { cursor } = page
    const end = changes.at(-1)?.cursor ?? (after === 'latest' ? cursor : after)
    if (cursor !== end || !this.#isCursor(cursor)) {
      throw brokenAnswer('a page of changes with the cursor of another one')
    }
    return { changes, cursor }
  }
}

function rethrow(error: unknown): never {
  throw explainFailure(error)
}

/**
 * Refuses answers that are too large or never arrive, and content that is not JSON in UTF-8, whose faults `fetch` would
 * replace.
 */
async function fetchAnswer(request: Request, valuesMax: number): Promise<Response> {
  const silence = new AbortController()
  const abort = () =>
    silence.abort(new Error(`nothing was received for ${SILENCE_MS_MAX / 1000} s`))
  const timer = setTimeout(abort, SILENCE_MS_MAX)
  const refuse = (fault: string) => brokenAnswer(`an answer of ${fault}`)
  const values = new ValueCount()
  try {
    const { response, body } = await fetchBounded(request, {
      signal: AbortSignal.any([request.signal, silence.signal]),
      bytesMax: ANSWER_BYTES_MAX,
      refuse,
      onHead: checkType,
      onChunk: (chunk) => {
        timer.refresh()
        if (values.add(chunk) > valuesMax) throw refuse(`more than ${valuesMax} values`)
      },
    })
    if (response.body === null) return response
    if (!isUtf8(body)) throw brokenAnswer('text that is not UTF-8')
    // The client's errors name the URL.
    return Object.defineProperty(new Response(body, response), 'url', { value: response.url })
  } finally {
    clearTimeout(timer)
  }
}

function checkType({ ok, headers }: Response): void {
  const type = headers.get('content-type') ?? 'none'
  if (ok && !/^application\/json\s*(;|$)/i.test(type)) {
    throw brokenAnswer(`content of the type ${type} instead of application/json`)
  }
}

/**
 * Counts the items, members, arrays and objects of JSON that arrives in chunks. Parsing needs some 300 bytes for each, so
 * an answer of many must be refused before. The count of invalid JSON has no meaning.
 */
class ValueCount {
  #count = 0
  #isInString = false
  #isEscaped = false

  /** Returns the count so far. */
  add(chunk: Uint8Array): number {
    const { length } = chunk
    for (let at = 0; at < length; at++) {
      const byte = chunk[at]
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === QUOTE) this.#isInString = !this.#isInString
      else if (this.#isInString) this.#isEscaped = byte === BACKSLASH
      else if (byte === COMMA || byte === OPENING_BRACE || byte === OPENING_BRACKET) this.#count++
    }
    return this.#count
  }
}
