import * as api from '../generated/orval-zod.ts'
import { send, tryClient } from './scenario.ts'

const call = (method: string, path: string, body?: unknown) => send(JSON, method, path, body)
const pathOf = ({ id }: { readonly id: number }) => `/plants/${id}`

await tryClient(Number.MAX_SAFE_INTEGER, {
  create: async (plant) =>
    api.CreatePlantResponse.parse(await call('POST', '/plants', api.CreatePlantBody.parse(plant))),
  get: async (id) =>
    api.GetPlantResponse.parse(await call('GET', pathOf(api.GetPlantParams.parse({ id })))),
  list: async () => api.ListPlantsResponse.parse(await call('GET', '/plants')),
  update: async (id, patch) => {
    const path = pathOf(api.UpdatePlantParams.parse({ id }))
    return api.UpdatePlantResponse.parse(
      await call('PATCH', path, api.UpdatePlantBody.parse(patch)),
    )
  },
  remove: (id) => call('DELETE', pathOf(api.DeletePlantParams.parse({ id }))),
})
