import { createApiClient } from '../generated/openapi-zod-client.ts'
import { HEADERS, STORE, tryClient } from './scenario.ts'

const client = createApiClient(STORE, { axiosConfig: { headers: HEADERS } })

await tryClient(Number.MAX_SAFE_INTEGER, {
  create: (plant) => client.createPlant(plant),
  get: (id) => client.getPlant({ params: { id } }),
  list: () => client.listPlants(),
  update: (id, patch) => client.updatePlant(patch, { params: { id } }),
  remove: (id) => client.deletePlant(undefined, { params: { id } }),
})
