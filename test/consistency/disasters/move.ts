import type { Change } from '../../../service/store/change-feed.ts'
import { changesAfter, latest } from '../../stores/feed-reads.ts'
import { webhook } from '../consumers/webhook.ts'
import { alternateEngines } from '../services/databases.ts'
import { MirrorProcess } from '../services/mirror-process.ts'
import { acceptsChanges, databaseIn, plantStore, Service, withStore } from '../services/service.ts'
import type { Disaster } from './disaster.ts'

/** The plants move to a database of the other engine, as docs/mirrors.md says. No change is lost. */
export const move: Disaster = {
  name: 'move',
  consumers: { webhook },
  start: async ({ owner, folder, history }) => {
    const newDatabase = await alternateEngines({ owner, folder })
    let current = await new Service(owner, databaseIn(folder)).start()
    /** The changes made before the last move. */
    const earlier: Change[] = []
    /** Where the changes after the last move begin. */
    let begin: string | undefined
    const changes = () => withStore(current.database, (store) => changesAfter(store, begin))

    const harm = async () => {
      const database = await newDatabase()
      const mirror = new MirrorProcess(owner, current.url, database)
      await mirror.caughtUp()
      const next = await new Service(owner, database).start()
      await plantStore(owner, 'freeze', '--database', current.database)
      await mirror.finish()
      await mirror.compare()
      const copying = ['webhook', 'copy', current.database, '--wait', '--database', database]
      await plantStore(owner, ...copying)
      earlier.push(...(await changes()))
      begin = await withStore(database, latest)
      await plantStore(owner, 'promote', '--database', database)
      await acceptsChanges(next)
      // The old service refuses all changes that were sent to it and have no response yet.
      history.fence()
      const old = current
      current = next
      await old.stop('SIGTERM')
    }
    const feed = async () => [...earlier, ...(await changes())]
    return { urls: () => current.urls(), harm, feed, database: current.database }
  },
}
