/**
 * Where the ids of requests come from:
 * - `sequential`: one after the other, from the first free one on;
 * - `time-ordered`: microseconds since 1970, as such ids are often made: the second and a count. They are
 *   below 2^53, as the plain servers would round others to the same few;
 * - `random`: any of 63 bits;
 * - `stored`: any of those that are stored before the load begins.
 *
 * These rules stand here for autocannon and in `requests.lua` for wrk; all else stands here only.
 */
export type IdSource = 'sequential' | 'time-ordered' | 'random' | 'stored'

/** A request; in its path and its body `ID` stands for the id. */
export interface Template {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Empty for none. */
  readonly body: string
  readonly ids: IdSource
}

const TAG = 'Tree'

const READ: Template = { method: 'GET', path: '/plants/ID', body: '', ids: 'stored' }
const PAGE: Template = { method: 'GET', path: '/plants?after=ID', body: '', ids: 'stored' }

/** The kinds of load, each with the requests that are sent in turn. */
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

/** The plant with an id, as creates send it. */
export function plantOf<Id extends number | bigint>(id: Id) {
  return { id, name: nameOf(id), tag: TAG }
}

function nameOf(id: number | bigint | 'ID'): string {
  return `Abies alba Mill. ${id}`
}

function create(ids: IdSource): Template {
  const body = `{"id":ID,"name":"${nameOf('ID')}","tag":"${TAG}"}`
  return { method: 'POST', path: '/plants', body, ids }
}

/** The text of a template with an id in it. */
export function withId(text: string, id: string): string {
  return text.replaceAll('ID', id)
}

/** What there is to choose ids from. */
export interface Ids {
  /** From here on ids are free. */
  readonly first: number
  /** How many plants are stored, the first of them with the id 1 and each with the next one. */
  readonly stored: number
}

/** A function for each rule of `IdSource`, which makes an id of how many requests were made before. */
export function idsOf({ first, stored }: Ids): Record<IdSource, (count: number) => string> {
  const below = (limit: number) => Math.floor(Math.random() * limit)
  return {
    sequential: (count) => String(first + count),
    'time-ordered': (count) => String(Math.floor(Date.now() / 1000) * 1e6 + count),
    // 2^63 is 9223372036 and then some billionths more.
    random: () => `${1 + below(9_223_372_035)}${String(below(1e9)).padStart(9, '0')}`,
    stored: () => String(1 + below(stored)),
  }
}
