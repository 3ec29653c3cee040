import * as api from '../generated/orval-fetch.ts'
import { HEADERS, LARGE_ID, tryClient } from './scenario.ts'

/** TypeScript does not declare this function yet. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown }

// The generated functions call JSON.stringify, which rejects a bigint without this method.
Object.assign(BigInt.prototype, {
  toJSON(this: bigint) {
    return rawJSON(String(this))
  },
})

const options = { headers: HEADERS }

await tryClient(LARGE_ID, {
  create: async (plant) => (await api.createPlant(plant, options)).data,
  get: async (id) => (await api.getPlant(id, options)).data,
  list: async () => (await api.listPlants({}, options)).data,
  update: async (id, patch) => (await api.updatePlant(id, patch, options)).data,
  remove: (id) => api.deletePlant(id, options),
})
