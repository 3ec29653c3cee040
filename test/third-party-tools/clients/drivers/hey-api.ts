import { parseJson, toJson } from 'plant-store-client'
import { client } from '../generated/hey-api/client.gen.ts'
import * as api from '../generated/hey-api/index.ts'
import { HEADERS, LARGE_ID, STORE, tryClient } from './scenario.ts'

client.setConfig({
  baseUrl: STORE,
  headers: HEADERS,
  bodySerializer: toJson,
  parseAs: 'text',
  throwOnError: true,
})

/** With `parseAs: 'text'`, `data` is a string, whatever its type says. */
const parse = ({ data }: { readonly data?: unknown }) => parseJson(String(data))

await tryClient(LARGE_ID, {
  create: async (body) => parse(await api.createPlant({ body })),
  get: async (id) => parse(await api.getPlant({ path: { id } })),
  list: async () => parse(await api.listPlants()),
  update: async (id, body) => parse(await api.updatePlant({ path: { id }, body })),
  remove: (id) => api.deletePlant({ path: { id } }),
})
