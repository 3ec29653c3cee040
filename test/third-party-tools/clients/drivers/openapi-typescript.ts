import createClient from 'openapi-fetch'
import { parseJson, toJson } from 'plant-store-client'
import type { paths } from '../generated/openapi-typescript.ts'
import { HEADERS, LARGE_ID, STORE, tryClient } from './scenario.ts'

const client = createClient<paths>({ baseUrl: STORE, headers: HEADERS, bodySerializer: toJson })
const parseAs = 'text'

function parse({ data, error }: { readonly data?: string; readonly error?: unknown }): unknown {
  if (data === undefined) throw error
  return parseJson(data)
}

await tryClient(LARGE_ID, {
  create: async (body) => parse(await client.POST('/plants', { body, parseAs })),
  get: async (id) => parse(await client.GET('/plants/{id}', { params: { path: { id } }, parseAs })),
  list: async () => parse(await client.GET('/plants', { parseAs })),
  update: async (id, body) =>
    parse(await client.PATCH('/plants/{id}', { params: { path: { id } }, body, parseAs })),
  remove: (id) => client.DELETE('/plants/{id}', { params: { path: { id } } }),
})
