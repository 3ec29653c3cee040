import { CONSUMERS } from '../consumers/consumers.ts'
import { databaseIn, Service } from '../services/service.ts'
import type { Disaster } from './disaster.ts'

/** The service is killed and started again, every second time with several HTTP threads. */
export const kill: Disaster = {
  name: 'kill',
  consumers: CONSUMERS,
  start: async ({ owner, folder, history }) => {
    const service = await new Service(owner, databaseIn(folder)).start()
    let kills = 0
    const harm = async () => {
      await service.stop('SIGKILL')
      history.fence()
      service.check()
      kills += 1
      await service.start(`--threads=${kills % 2 === 0 ? 1 : 4}`)
    }
    return { urls: service.urls, harm, database: service.database }
  },
}
