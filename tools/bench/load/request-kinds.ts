import { keysOf } from '../../../core/known.ts'

/**
 * How to choose the id of a request:
 * - `sequential`: consecutive ids, starting with the first free one;
 * - `time-ordered`: the current second in microseconds since 1970 plus a counter that continues from run to run, below
 *   2^53 because the bare servers round larger ids;
 * - `random`: uniform over 63 bits;
 * - `random-53-bit`: uniform over integers below 2^53, which JavaScript's numbers hold exactly;
 * - `stored`: a random plant that was stored before the load.
 *
 * `request-kinds.lua` repeats these rules for wrk.
 */
export type IdSource = 'sequential' | 'time-ordered' | 'random' | 'random-53-bit' | 'stored'

/** A request. `ID` in its path and body is replaced by the id. A batch repeats the body. */
export interface Template {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Empty if the request has no body. */
  readonly body: string
  readonly ids: IdSource
  /** The body is an array of this many plants, each with its own id. By default, it is one plant. */
  readonly batch?: number
}

const TAG = 'Tree'

/** A plant in a template's body. */
export const PLANT_JSON = `{"id":ID,"name":"${makeName('ID')}","tag":"${TAG}"}`

const READ: Template = { method: 'GET', path: '/plants/ID', body: '', ids: 'stored' }
const PAGE: Template = { method: 'GET', path: '/plants?after=ID', body: '', ids: 'stored' }
const MIXED = [create('sequential'), ...Array<Template>(9).fill(READ)]

/** The requests of each kind of load, sent in rotation. */
const KINDS = {
  sequential: [create('sequential')],
  random: [create('random')],
  'batch-100': [createBatch(100)],
  read: [READ],
  page: [PAGE],
  replayed: [create('stored')],
  'time-ordered': [create('time-ordered')],
  mixed: MIXED,
  'mixed-with-batches': MIXED,
  'random-53-bit': [create('random-53-bit')],
  'random-batch-100': [createBatch(100, 'random')],
} as const satisfies Record<string, readonly Template[]>

export type Kind = keyof typeof KINDS

export const ALL_KINDS = keysOf(KINDS)
export const DEFAULT_KINDS: readonly Kind[] = ALL_KINDS.slice(0, 6)

export function requestsOf(kind: Kind): readonly Template[] {
  return KINDS[kind]
}

/** A load of batches of 1,000 plants in the background of another kind. Undefined for most kinds. */
export function backgroundOf(kind: Kind): readonly Template[] | undefined {
  return kind === 'mixed-with-batches' ? [createBatch(1000)] : undefined
}

/** How many plants each request of a load stores; 0 if some store none. */
export function plantsPerRequest(kind: Kind): number {
  const [first, ...others] = requestsOf(kind)
  const stores = first?.method === 'POST' && first.ids !== 'stored' && others.length === 0
  return stores ? (first.batch ?? 1) : 0
}

/** The plant that a create sends for an id. */
export function makePlant<Id extends number | bigint>(id: Id) {
  return { id, name: makeName(id), tag: TAG }
}

function makeName(id: number | bigint | 'ID'): string {
  return `Abies alba Mill. ${id}`
}

function create(ids: IdSource): Template {
  return { method: 'POST', path: '/plants', body: PLANT_JSON, ids }
}

function createBatch(size: number, ids: IdSource = 'sequential'): Template {
  return { ...create(ids), path: '/plants/batch', batch: size }
}

/**
 * The path and body of a request.
 *
 * @param count the number of requests made before
 */
export function fillIn(
  { path, body, ids: source, batch }: Template,
  ids: Record<IdSource, (count: number) => string>,
  count: number,
): { path: string; body: string } {
  if (batch === undefined) {
    const id = ids[source](count)
    return { path: withId(path, id), body: withId(body, id) }
  }
  const plants = Array.from({ length: batch }, (_, index) =>
    withId(body, ids[source](count * batch + index)),
  )
  return { path, body: `[${plants}]` }
}

/** Fills in the id of a template's path or body. */
function withId(text: string, id: string): string {
  return text.replaceAll('ID', id)
}

/**
 * The id of the first stored plant. The others follow without gaps, so ids have ten digits and requests the same length
 * in small and in large stores.
 */
export const FIRST_ID = 1_000_000_000

/** The ids to choose from. */
export interface Ids {
  /** The first free id. */
  readonly first: number
  /** The number of stored plants. */
  readonly stored: number
}

/** The rules of `IdSource`. Each function takes the number of ids chosen before. */
export function createIdSources({
  first,
  stored,
}: Ids): Record<IdSource, (count: number) => string> {
  const below = (limit: number) => Math.floor(Math.random() * limit)
  return {
    sequential: (count) => String(first + count),
    'time-ordered': (count) =>
      String(Math.floor(Date.now() / 1000) * 1e6 + ((first + count) % 1e6)),
    // The first ten digits of 2^63 are 9223372036.
    random: () => `${1 + below(9_223_372_035)}${String(below(1e9)).padStart(9, '0')}`,
    // The first seven digits of 2^53 are 9007199.
    'random-53-bit': () => String((1 + below(9_007_198)) * 1e9 + below(1e9)),
    stored: () => String(FIRST_ID + below(stored)),
  }
}
