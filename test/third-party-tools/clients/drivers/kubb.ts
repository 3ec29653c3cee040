import {
  createPlant,
  deletePlant,
  getPlant,
  listPlants,
  updatePlant,
} from '../generated/kubb/index.ts'
import { LARGE_ID, tryClient } from './scenario.ts'

await tryClient(LARGE_ID, {
  create: (plant) => createPlant(plant),
  get: (id) => getPlant(id),
  list: () => listPlants(),
  update: (id, patch) => updatePlant(id, patch),
  remove: (id) => deletePlant(id),
})
