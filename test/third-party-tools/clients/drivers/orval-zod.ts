import {
  CreatePlantBody,
  CreatePlantResponse,
  DeletePlantParams,
  GetPlantParams,
  GetPlantResponse,
  ListPlantsResponse,
  UpdatePlantBody,
  UpdatePlantParams,
  UpdatePlantResponse,
} from '../generated/orval-zod.ts'
import { send, tryClient } from './scenario.ts'

const call = (method: string, path: string, body?: unknown) => send(JSON, method, path, body)
const pathOf = ({ id }: { readonly id: number }) => `/plants/${id}`

await tryClient(Number.MAX_SAFE_INTEGER, {
  create: async (plant) =>
    CreatePlantResponse.parse(await call('POST', '/plants', CreatePlantBody.parse(plant))),
  get: async (id) =>
    GetPlantResponse.parse(await call('GET', pathOf(GetPlantParams.parse({ id })))),
  list: async () => ListPlantsResponse.parse(await call('GET', '/plants')),
  update: async (id, patch) => {
    const path = pathOf(UpdatePlantParams.parse({ id }))
    return UpdatePlantResponse.parse(await call('PATCH', path, UpdatePlantBody.parse(patch)))
  },
  remove: (id) => call('DELETE', pathOf(DeletePlantParams.parse({ id }))),
})
