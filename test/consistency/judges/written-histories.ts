/** Short histories, written by hand. */
import { toJson } from '../../../client/json.ts'
import { contentVersion } from '../../../service/store/content-version.ts'
import type { Plant, PlantPatch, StoredPlant } from '../../../service/store/plant-store.ts'
import { type Arguments, type Call, History, type Mark } from '../history.ts'

/** The plant that all calls are about, unless they say otherwise. */
export const ID = 4n

export type Span = readonly [called: number, ended: number]

function call(
  operation: string,
  [called, ended]: Span,
  given: Arguments,
  status: number | undefined,
  body: unknown = '',
): Call {
  const answer = { status: status ?? 0, body: typeof body === 'string' ? body : toJson(body) }
  const made = { client: 0, operation, arguments: given, called, ended }
  return status === undefined ? made : { ...made, answer }
}

/** A create; without a status, its outcome is open. */
export function creates(span: Span, name: string, status?: number, id = ID): Call {
  return call('create', span, { plants: [{ id, name }] }, status)
}

export function replaces(span: Span, name: string, status?: number, version?: string): Call {
  const given = {
    id: ID,
    content: { name },
    ...(version && { version: contentVersion({ name: version }) }),
  }
  return call('replace', span, given, status, status === 200 ? { id: ID, name } : '')
}

export function updates(span: Span, patch: PlantPatch, status?: number, after?: Plant): Call {
  return call(
    'update',
    span,
    { id: ID, patch },
    status,
    after === undefined ? '' : { id: ID, ...after },
  )
}

export function removes(span: Span, status?: number, version?: string): Call {
  return call(
    'remove',
    span,
    { id: ID, ...(version && { version: contentVersion({ name: version }) }) },
    status,
  )
}

/** A read of the plant, or of nothing. */
export function reads(span: Span, plant?: string | Plant, id = ID): Call {
  if (plant === undefined) return call('get', span, { id }, 404)
  const content = typeof plant === 'string' ? { name: plant } : plant
  const made = call('get', span, { id }, 200, { id, ...content })
  if (made.answer) made.answer.etag = `"${contentVersion(content)}"`
  return made
}

/** A batch; if it fails, the plant with the index conflicts. */
export function batches(
  span: Span,
  plants: readonly StoredPlant[],
  result?: { created: number; replayed: number } | { conflict: number },
): Call {
  if (result === undefined) return call('createBatch', span, { plants }, undefined)
  if ('created' in result) return call('createBatch', span, { plants }, 200, result)
  return call('createBatch', span, { plants }, 409, `body/${result.conflict}: it exists`)
}

/** A page of some plants. */
export function lists(
  span: Span,
  query: string,
  plants: readonly StoredPlant[],
  next?: bigint,
): Call {
  const made = call('list', span, { query }, 200, plants)
  if (made.answer && next !== undefined) made.answer.link = `<?after=${next}>; rel="next"`
  return made
}

export function listsTags(span: Span, tags: readonly string[]): Call {
  return call('listTags', span, { query: '' }, 200, tags)
}

export function fence(at: number): Mark {
  return { mark: 'fence', at }
}

export function settled(at: number, endedBefore = at): Mark {
  return { mark: 'settled', at, endedBefore }
}

export function restored(at: number, plants: readonly StoredPlant[]): Mark {
  return { mark: 'restored', at, plants }
}

export function historyOf(entries: readonly (Call | Mark)[]): History {
  const history = new History(0)
  for (const entry of entries) {
    if ('mark' in entry) history.marks.push(entry)
    else history.calls.push(entry)
  }
  return history
}
