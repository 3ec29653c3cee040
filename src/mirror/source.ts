import { isUtf8 } from 'node:buffer'
import type { ErrorObject } from 'ajv'
import { type CallOptions, createClient, type PlantStoreClient } from '../../client/client.ts'
import { loadContract } from '../../contract/contract.ts'
import { limits } from '../../contract/limits.gen.ts'
import { compileComponent } from '../../contract/validators.ts'
import type { Change } from '../../service/change-feed.ts'
import type { StoredPlant } from '../../service/plant-store.ts'
import { brokenAnswer, explainFailure } from './failures.ts'
import { ValueCount } from './value-count.ts'

/** The contract's limit for pages. */
export const PAGE_SIZE = Math.min(limits.listPlants.limit.maximum, limits.listChanges.limit.maximum)

/** Bounds the memory. A page has some 2 MiB at most, unless the source accepts larger names. */
const ANSWER_BYTES_MAX = 2 ** 26

/** Bounds the time and memory of parsing. A change has some ten values. */
const ANSWER_VALUES_MAX = 100_000

/** After this time without any data, a connection no longer works. A source waits for less than this. */
const SILENCE_MS_MAX = 8000

export interface PlantPage {
  readonly plants: readonly StoredPlant[]
  /** The id after which the next page begins. Undefined if there are no more plants. */
  readonly next: bigint | undefined
}

export interface ChangePage {
  readonly changes: readonly Change[]
  /** The cursor after the page. */
  readonly next: string
}

/**
 * Reads from the service that is mirrored, and refuses answers that no plant store sends.
 *
 * Every method throws SourceUnavailable, MirrorError, or the reason of the signal.
 */
export class Source {
  readonly url: string
  readonly #client: PlantStoreClient
  readonly #options: CallOptions
  readonly #isPlant = compileComponent(loadContract(), 'StoredPlant')
  readonly #isCursor = compileComponent(loadContract(), 'Cursor')

  /**
   * @param token of the source, with the scope `read`
   * @param signal ends requests with its reason
   * @param retries how often to repeat a request that fails temporarily
   * @throws TypeError if the URL is not that of a service
   */
  constructor(url: string, token: string, signal?: AbortSignal, retries = 0) {
    this.#client = createClient({ url, token, fetch: fetchBounded, retries })
    this.#options = { signal }
    this.url = url
  }

  /** Reads some of the plants with a greater id, or the first ones. */
  async readPlants(after?: bigint): Promise<PlantPage> {
    const query = { limit: PAGE_SIZE, ...(after !== undefined && { after }) }
    const { plants } = await this.#client.listPlants(query, this.#options).catch(rethrow)
    let next = after
    for (const plant of plants) {
      this.#checkPlant(plant)
      if (next !== undefined && plant.id <= next) {
        throw brokenAnswer(`plant ${plant.id} after plant ${next}`)
      }
      next = plant.id
    }
    // Only a page without plants is the last one: a proxy can remove a link.
    return { plants, next: plants.at(-1)?.id }
  }

  /** Reads some of the changes after a cursor. `latest` is the end of the feed. */
  async readChanges(after: string, wait = 0): Promise<ChangePage> {
    const query = { after, limit: PAGE_SIZE, wait }
    const { changes, cursor: next } = await this.#client
      .listChanges(query, this.#options)
      .catch(rethrow)
    const cursors = new Set([after])
    for (const { cursor, id, plant } of changes) {
      if (plant !== undefined) this.#checkPlant({ ...plant, id })
      if (cursors.has(cursor)) throw brokenAnswer('a change twice')
      cursors.add(cursor)
    }
    const end = changes.at(-1)?.cursor ?? (after === 'latest' ? next : after)
    if (next !== end || !this.#isCursor(next)) {
      throw brokenAnswer('a page of changes with the cursor of another one')
    }
    return { changes, next }
  }

  #checkPlant(plant: StoredPlant): void {
    if (this.#isPlant(plant)) return
    const [{ instancePath, message }] = this.#isPlant.errors as [ErrorObject]
    throw brokenAnswer(`plant ${plant.id}, whose ${instancePath.slice(1)} ${message}`)
  }
}

function rethrow(error: unknown): never {
  throw explainFailure(error)
}

/**
 * Refuses answers that are too large or never arrive, and content that is not JSON in UTF-8, whose faults `fetch` would
 * replace.
 */
async function fetchBounded(request: Request): Promise<Response> {
  const silence = new AbortController()
  const abort = () =>
    silence.abort(new Error(`nothing was received for ${SILENCE_MS_MAX / 1000} s`))
  const timer = setTimeout(abort, SILENCE_MS_MAX)
  try {
    const signal = AbortSignal.any([request.signal, silence.signal])
    return await readAnswer(await fetch(request, { signal }), timer)
  } finally {
    clearTimeout(timer)
  }
}

/** @param timer is started again whenever data arrives */
async function readAnswer(response: Response, timer: NodeJS.Timeout): Promise<Response> {
  const type = response.headers.get('content-type') ?? 'none'
  if (response.ok && !/^application\/json\s*(;|$)/i.test(type)) {
    throw brokenAnswer(`content of the type ${type} instead of application/json`)
  }
  if (response.body === null) return response
  const chunks: Uint8Array[] = []
  const values = new ValueCount()
  let bytes = 0
  for await (const chunk of response.body) {
    timer.refresh()
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) {
      throw brokenAnswer(`an answer of more than ${ANSWER_BYTES_MAX} bytes`)
    }
    if (values.add(chunk) > ANSWER_VALUES_MAX) {
      throw brokenAnswer(`an answer of more than ${ANSWER_VALUES_MAX} values`)
    }
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks)
  if (!isUtf8(body)) throw brokenAnswer('text that is not UTF-8')
  // The client's errors name the URL.
  return Object.defineProperty(new Response(body, response), 'url', { value: response.url })
}
