import { CONSUMERS } from '../consumers/consumers.ts'
import { databaseIn, Service } from '../services/service.ts'
import type { Disaster } from './disaster.ts'

/** Several HTTP threads, with connections of their own to the database. */
export const threads: Disaster = {
  name: 'threads',
  consumers: CONSUMERS,
  start: async ({ owner, folder }) => {
    const { urls, database } = await new Service(owner, databaseIn(folder)).start('--threads=4')
    return { urls, database }
  },
}
