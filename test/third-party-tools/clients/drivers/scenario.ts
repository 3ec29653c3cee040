/** What each generated client must do, with the service at `STORE`. */
import assert from 'node:assert/strict'

export const { STORE = '', TOKEN = '' } = process.env

export const HEADERS = { authorization: `Bearer ${TOKEN}` }

/** The largest id. Rounded, it is beyond int64, and the service rejects it. */
export const LARGE_ID = 2n ** 63n - 1n

export interface PlantClient<Id> {
  create(plant: { readonly id: Id; readonly name: string; readonly tag: string }): Promise<unknown>
  get(id: Id): Promise<unknown>
  list(): Promise<unknown>
  update(id: Id, patch: { readonly name: string }): Promise<unknown>
  remove(id: Id): Promise<unknown>
}

/** Creates, fetches, lists, changes and removes a plant in an empty store. */
export async function tryClient<Id>(id: Id, client: PlantClient<Id>): Promise<void> {
  const name = 'Abies alba Mill.'
  const tag = 'Tree'
  assert.deepEqual(await client.create({ id, name, tag }), { name, tag })
  assert.deepEqual(await client.get(id), { id, name, tag })
  assert.deepEqual(await client.list(), [{ id, name, tag }])
  assert.deepEqual(await client.update(id, { name: 'Abies' }), { id, name: 'Abies', tag })
  await client.remove(id)
  assert.deepEqual(await client.list(), [])
}

interface Codec {
  stringify(value: unknown): string
  parse(text: string): unknown
}

/** Sends a request for generators that leave this to their user. */
export async function send(codec: Codec, method: string, path: string, body?: unknown) {
  const response = await fetch(`${STORE}${path}`, {
    method,
    headers: { ...HEADERS, 'content-type': 'application/json' },
    ...(body !== undefined && { body: codec.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text === '' ? undefined : codec.parse(text)
}
