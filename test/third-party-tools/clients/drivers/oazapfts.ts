import {
  createPlant,
  defaults,
  deletePlant,
  getPlant,
  listPlants,
  updatePlant,
} from '../generated/oazapfts.ts'
import { HEADERS, STORE, tryClient } from './scenario.ts'

Object.assign(defaults, { baseUrl: STORE, headers: HEADERS })

await tryClient(Number.MAX_SAFE_INTEGER, {
  create: async (plant) => (await createPlant(plant)).data,
  get: async (id) => {
    const answer = await getPlant(id)
    return answer.status === 200 ? answer.data : answer
  },
  list: async () => (await listPlants()).data,
  update: async (id, patch) => (await updatePlant(id, patch)).data,
  remove: (id) => deletePlant(id),
})
