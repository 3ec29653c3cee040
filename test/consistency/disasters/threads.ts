import { CONSUMERS } from '../consumers/consumers.ts'
import type { Disaster } from './disaster.ts'
import { databaseIn, Service } from './service.ts'

/** Several HTTP threads, with connections of their own to the database. */
export const threads: Disaster = {
  name: 'threads',
  consumers: CONSUMERS,
  start: async ({ owner, folder }) => {
    const { urls, database } = await new Service(owner, databaseIn(folder)).start('--threads=4')
    return { urls, database }
  },
}
