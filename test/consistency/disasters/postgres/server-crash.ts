import { startPostgres } from '../../../../tools/postgres/postgres-server.ts'
import { OWN_FIELDS, WITH_FIELDS } from '../../../helpers/plants/nursery.ts'
import type { Place } from '../../services/target.ts'
import type { Disaster } from '../disaster.ts'
import { settle, startReplicas } from './replica.ts'

/** The PostgreSQL server crashes, is restarted, or ends all connections. */
export const serverCrash: Disaster = {
  name: 'server-crash',
  start: (place) => startOnServer(place),
}

/** The same with own fields. */
export const serverCrashWithFields: Disaster = {
  name: 'server-crash with own fields',
  start: async (place) => ({ ...(await startOnServer(place, WITH_FIELDS)), fields: OWN_FIELDS }),
}

async function startOnServer({ owner, random, history }: Place, args: readonly string[] = []) {
  const { server, emptyDatabase } = await startPostgres(owner)
  const replicas = await startReplicas(owner, await emptyDatabase(), { count: 2, args })
  const restart = async (end: () => Promise<void>) => {
    await end()
    history.settled()
    await server.start()
  }
  const endConnections = async () => {
    await server.query(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name LIKE 'replica-%'",
    )
    await settle(history, server)
  }
  const harm = async () => {
    const choice = random.below(3)
    if (choice === 0) await restart(() => server.crash())
    else if (choice === 1) await restart(() => server.stop())
    else await endConnections()
    for (const replica of replicas) await replica.ready()
  }
  return { urls: () => replicas.map(({ url }) => url), harm }
}
