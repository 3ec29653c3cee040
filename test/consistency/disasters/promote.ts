import { isDeepStrictEqual } from 'node:util'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import type { Owner } from '../../helpers/processes/command.ts'
import { changesAfter, replay } from '../../stores/feed-reads.ts'
import { alternateEngines } from '../services/databases.ts'
import { MirrorProcess } from '../services/mirror-process.ts'
import {
  acceptsChanges,
  databaseIn,
  plantStore,
  readMirror,
  Service,
  withStore,
} from '../services/service.ts'
import type { Disaster } from './disaster.ts'

/**
 * The service is lost, and its mirror, which is on the other engine, takes its place, as docs/mirrors.md says. The
 * changes after the mirror's position are lost, and no others.
 */
export const promote = promoteBy('promote', (owner, database) =>
  plantStore(owner, 'promote', '--database', database),
)

/** @param promoteMirror makes a mirror an ordinary database */
export function promoteBy(
  name: string,
  promoteMirror: (owner: Owner, database: string) => Promise<unknown>,
): Disaster {
  return {
    name,
    start: async ({ owner, folder, history }) => {
      const newDatabase = await alternateEngines({ owner, folder })
      const follow = async ({ url }: Service) => {
        const database = await newDatabase()
        const process = new MirrorProcess(owner, url, database)
        await process.caughtUp()
        return { process, service: await new Service(owner, database).start() }
      }
      let current = await new Service(owner, databaseIn(folder)).start()
      let mirror = await follow(current)
      const harm = async () => {
        const { process, service } = mirror
        await current.stop('SIGKILL')
        await process.kill()
        const plants = await plantsKept(current.database, service.database)
        await promoteMirror(owner, service.database)
        await acceptsChanges(service)
        history.restored(plants)
        current = service
        mirror = await follow(service)
      }
      return { urls: () => current.urls(), harm }
    },
  }
}

/**
 * The plants of a mirror.
 *
 * @throws Error unless the changes of the source up to the mirror's position yield them
 */
async function plantsKept(source: string, mirror: string): Promise<readonly StoredPlant[]> {
  const {
    restriction: { cursor },
    plants,
  } = await readMirror(mirror)
  const changes = await withStore(source, async (store) => {
    const [all, lost] = [await changesAfter(store), await changesAfter(store, cursor)]
    return all.slice(0, all.length - lost.length)
  })
  if (!isDeepStrictEqual(replay(changes), plants)) {
    throw new Error('the mirror does not have the plants of its source at its position')
  }
  return plants
}
