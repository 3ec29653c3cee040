/**
 * How to choose the id of a request:
 * - `sequential`: consecutive ids, starting with the first free one;
 * - `time-ordered`: the current second in microseconds since 1970 plus a counter, below 2^53 because the bare servers
 *   round larger ids;
 * - `random`: uniform over 63 bits;
 * - `stored`: a random plant that was stored before the load.
 *
 * `requests.lua` repeats these rules for wrk.
 */
export type IdSource = 'sequential' | 'time-ordered' | 'random' | 'stored'

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

const READ: Template = { method: 'GET', path: '/plants/ID', body: '', ids: 'stored' }
const PAGE: Template = { method: 'GET', path: '/plants?after=ID', body: '', ids: 'stored' }

/** The requests of each kind of load, sent in rotation. */
export const KINDS = {
  sequential: [create('sequential')],
  'time-ordered': [create('time-ordered')],
  random: [create('random')],
  replayed: [create('stored')],
  read: [READ],
  page: [PAGE],
  mixed: [create('sequential'), ...Array<Template>(9).fill(READ)],
} as const satisfies Record<string, readonly Template[]>

/** Loads of batches, whose ids are sequential. */
export const BATCH_KINDS = {
  'batch of 1': [createBatch(1)],
  'batch of 10': [createBatch(10)],
  'batch of 100': [createBatch(100)],
  'batch of 1000': [createBatch(1000)],
} as const satisfies Record<string, readonly Template[]>

export type Kind = keyof typeof KINDS
export type BatchKind = keyof typeof BATCH_KINDS

export const ALL_KINDS = Object.keys(KINDS) as Kind[]
export const ALL_BATCH_KINDS = Object.keys(BATCH_KINDS) as BatchKind[]

/** The requests of a kind of load, sent in rotation. */
export function requestsOf(kind: Kind | BatchKind): readonly Template[] {
  return { ...KINDS, ...BATCH_KINDS }[kind]
}

/** How many plants each request of a load stores; 0 if some store none. */
export function plantsPerRequest(kind: Kind | BatchKind): number {
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
  const body = `{"id":ID,"name":"${makeName('ID')}","tag":"${TAG}"}`
  return { method: 'POST', path: '/plants', body, ids }
}

function createBatch(size: number): Template {
  return { ...create('sequential'), path: '/plants/batch', batch: size }
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

/** The ids to choose from. */
export interface Ids {
  /** The first free id. */
  readonly first: number
  /** The number of stored plants. */
  readonly stored: number
  /** Distance between the ids of stored plants, which is also the first of these ids. The default is 1. */
  readonly step?: number
}

/** The rules of `IdSource`. Each function takes the number of ids chosen before. */
export function createIdSources({
  first,
  stored,
  step = 1,
}: Ids): Record<IdSource, (count: number) => string> {
  const below = (limit: number) => Math.floor(Math.random() * limit)
  return {
    sequential: (count) => String(first + count),
    'time-ordered': (count) => String(Math.floor(Date.now() / 1000) * 1e6 + count),
    // The first ten digits of 2^63 are 9223372036.
    random: () => `${1 + below(9_223_372_035)}${String(below(1e9)).padStart(9, '0')}`,
    stored: () => String((1 + below(stored)) * step),
  }
}
