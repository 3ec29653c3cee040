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

/** A request. `ID` in its path and body is replaced by the id. */
export interface Template {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Empty if the request has no body. */
  readonly body: string
  readonly ids: IdSource
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

export type Kind = keyof typeof KINDS

export const ALL_KINDS = Object.keys(KINDS) as Kind[]

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

/** Fills in the id of a template's path or body. */
export function withId(text: string, id: string): string {
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

/** The rules of `IdSource`. Each function takes the number of requests made before. */
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
