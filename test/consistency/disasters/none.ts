import { CONSUMERS } from '../consumers/consumers.ts'
import { databaseIn, Service } from '../services/service.ts'
import type { Disaster } from './disaster.ts'

/** Nothing happens to a service with one HTTP thread. */
export const none: Disaster = {
  name: 'none',
  consumers: CONSUMERS,
  start: async ({ owner, folder }) => {
    const { urls, database } = await new Service(owner, databaseIn(folder)).start()
    return { urls, database }
  },
}
