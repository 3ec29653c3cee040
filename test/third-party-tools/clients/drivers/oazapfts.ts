import * as api from '../generated/oazapfts.ts'
import { HEADERS, STORE, tryClient } from './scenario.ts'

Object.assign(api.defaults, { baseUrl: STORE, headers: HEADERS })

await tryClient(Number.MAX_SAFE_INTEGER, {
  create: async (plant) => (await api.createPlant(plant)).data,
  get: async (id) => {
    const answer = await api.getPlant(id)
    return answer.status === 200 ? answer.data : answer
  },
  list: async () => (await api.listPlants()).data,
  update: async (id, patch) => (await api.updatePlant(id, patch)).data,
  remove: (id) => api.deletePlant(id),
})
