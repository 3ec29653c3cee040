import * as api from '../generated/kubb/index.ts'
import { LARGE_ID, tryClient } from './scenario.ts'

await tryClient(LARGE_ID, {
  create: (plant) => api.createPlant(plant),
  get: (id) => api.getPlant(id),
  list: () => api.listPlants(),
  update: (id, patch) => api.updatePlant(id, patch),
  remove: (id) => api.deletePlant(id),
})
