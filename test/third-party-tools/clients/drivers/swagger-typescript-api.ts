import { Api } from '../generated/swagger-typescript-api/Api.ts'
import { HEADERS, STORE, tryClient } from './scenario.ts'

const { plants } = new Api({ baseUrl: STORE, baseApiParams: { headers: HEADERS } })

await tryClient(Number.MAX_SAFE_INTEGER, {
  create: async (plant) => (await plants.createPlant(plant)).data,
  get: async (id) => (await plants.getPlant(id)).data,
  list: async () => (await plants.listPlants()).data,
  update: async (id, patch) => (await plants.updatePlant(id, patch)).data,
  remove: (id) => plants.deletePlant(id),
})
