import { OWN_FIELDS, WITH_FIELDS } from '../../helpers/nursery.ts'
import { CONSUMERS } from '../consumers/consumers.ts'
import { webhook } from '../consumers/webhook.ts'
import { databaseIn, Service } from '../services/service.ts'
import type { Place } from '../services/target.ts'
import type { Disaster } from './disaster.ts'

/** The service is killed and started again, every second time with several HTTP threads. */
export const kill: Disaster = {
  name: 'kill',
  consumers: CONSUMERS,
  start: (place) => startKilled(place),
}

/** The same with own fields. */
export const killWithFields: Disaster = {
  name: 'kill with own fields',
  consumers: { webhook },
  start: async (place) => ({ ...(await startKilled(place, WITH_FIELDS)), fields: OWN_FIELDS }),
}

async function startKilled({ owner, folder, history }: Place, args: readonly string[] = []) {
  const service = await new Service(owner, databaseIn(folder)).start(...args)
  let kills = 0
  const harm = async () => {
    await service.stop('SIGKILL')
    history.fence()
    service.check()
    kills += 1
    await service.start(`--threads=${kills % 2 === 0 ? 1 : 4}`, ...args)
  }
  return { urls: service.urls, harm, database: service.database }
}
