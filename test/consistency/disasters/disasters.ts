/** All disasters, in the order in which they run. */
import type { Disaster } from './disaster.ts'
import { fullDisk } from './full-disk.ts'
import { kill, killWithFields } from './kill.ts'
import { lock } from './lock.ts'
import { move } from './move.ts'
import { none } from './none.ts'
import { failover } from './postgres/failover.ts'
import { replicas } from './postgres/replicas.ts'
import { serverCrash, serverCrashWithFields } from './postgres/server-crash.ts'
import { promote } from './promote.ts'
import { restore } from './restore.ts'
import { threads } from './threads.ts'

export const ON_SQLITE: readonly Disaster[] = [
  none,
  threads,
  kill,
  killWithFields,
  lock,
  fullDisk,
  restore,
]

export const ON_POSTGRES: readonly Disaster[] = [
  replicas,
  serverCrash,
  serverCrashWithFields,
  failover,
]

export const DISASTERS: readonly Disaster[] = [...ON_SQLITE, ...ON_POSTGRES, promote, move]
