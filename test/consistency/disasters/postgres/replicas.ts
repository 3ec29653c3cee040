import { startPostgres } from '../../../../tools/postgres/postgres-server.ts'
import { Relay } from '../../../patroni/relay.ts'
import type { Disaster } from '../disaster.ts'
import { Replica, settle } from './replica.ts'

const REPLICAS = 3

/** One of several replicas on the same PostgreSQL server is killed, or cut off from the server, and comes back. */
export const replicas: Disaster = {
  name: 'replicas',
  start: async ({ owner, random, history }) => {
    const { server, emptyDatabase } = await startPostgres(owner)
    const { pathname } = new URL(await emptyDatabase())
    const { username } = new URL(server.url())
    const all = await Promise.all(
      Array.from({ length: REPLICAS }, async (_, number) => {
        const relay = new Relay(owner, '127.0.0.1', { host: '127.0.0.1', port: server.port })
        await relay.open()
        const database = `postgres://${username}@${relay.address}${pathname}`
        const replica = new Replica(owner, database, `replica-${number + 1}`)
        return { relay, replica: await replica.start() }
      }),
    )
    const harm = async () => {
      const { relay, replica } = random.pick(all)
      if (random.oneIn(2)) {
        await replica.stop('SIGKILL')
        await settle(history, server, replica.name)
        await replica.start()
      } else {
        relay.close()
        await settle(history, server, replica.name)
        await relay.open()
      }
      await replica.ready()
    }
    return { urls: () => all.map(({ replica }) => replica.url), harm }
  },
}
