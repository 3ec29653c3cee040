import { OWN_FIELDS, WITH_FIELDS } from '../../helpers/plants/nursery.ts'
import { CONSUMERS } from '../consumers/consumers.ts'
import { webhook } from '../consumers/webhook.ts'
import { databaseIn, Service } from '../services/service.ts'
import type { Place } from '../services/target.ts'
import type { Disaster } from './disaster.ts'

/** The service is killed and started again with one HTTP thread and with several, by turns. */
export const kill: Disaster = {
  name: 'kill',
  consumers: CONSUMERS,
  start: (place) => startKilled(place, [1, 2]),
}

/** The same with own fields. */
export const killWithFields: Disaster = {
  name: 'kill with own fields',
  consumers: { webhook },
  start: async (place) => ({
    ...(await startKilled(place, [2, 1], WITH_FIELDS)),
    fields: OWN_FIELDS,
  }),
}

/** @param threads the numbers of HTTP threads after each kill */
async function startKilled(
  { owner, folder, history }: Place,
  threads: readonly number[],
  args: readonly string[] = [],
) {
  const service = await new Service(owner, databaseIn(folder)).start(...args)
  let kills = 0
  const harm = async () => {
    await service.stop('SIGKILL')
    history.fence()
    service.check()
    await service.start(`--threads=${threads[kills++ % threads.length]}`, ...args)
  }
  return { urls: service.urls, harm, database: service.database }
}
