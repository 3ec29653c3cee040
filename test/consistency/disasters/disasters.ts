/** All disasters, in the order in which they run. */
import type { Disaster } from './disaster.ts'
import { fullDisk } from './full-disk.ts'
import { kill } from './kill.ts'
import { lock } from './lock.ts'
import { move } from './move.ts'
import { none } from './none.ts'
import { promote } from './promote.ts'
import { restore } from './restore.ts'
import { threads } from './threads.ts'

export const DISASTERS: readonly Disaster[] = [
  none,
  threads,
  kill,
  lock,
  fullDisk,
  restore,
  promote,
  move,
]
