import { setTimeout } from 'node:timers/promises'
import { SmallDisk } from '../../mirror/small-disk.ts'
import { CONSUMERS } from '../consumers/consumers.ts'
import { databaseIn, Service } from '../services/service.ts'
import type { Disaster } from './disaster.ts'

/** How long the disk stays full at most, in milliseconds. */
const FULL_MS_MAX = 1000

/**
 * The disk is full for a while. The service then restarts, after which earlier open changes cannot take effect: the
 * judges can follow only dozens of them.
 */
export const fullDisk: Disaster = {
  name: 'full-disk',
  missing: () => (canMount() ? undefined : 'not permitted to mount a file system'),
  consumers: CONSUMERS,
  start: async ({ owner, random, history }) => {
    const disk = new SmallDisk(owner)
    const service = await new Service(owner, databaseIn(disk.folder)).start('--threads=2')
    const harm = async () => {
      disk.fill()
      await setTimeout(random.below(FULL_MS_MAX))
      disk.makeRoom()
      await service.stop('SIGTERM')
      history.fence()
      await service.start('--threads=2')
    }
    return { urls: service.urls, harm, database: service.database }
  },
}

function canMount(): boolean {
  const works: (() => unknown)[] = []
  const { isMounted } = new SmallDisk({ teardown: (work: () => unknown) => works.unshift(work) })
  for (const work of works) work()
  return isMounted
}
