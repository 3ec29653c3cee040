/** All disasters. */
import type { Disaster } from './disaster.ts'
import { kill } from './kill.ts'
import { none } from './none.ts'
import { threads } from './threads.ts'

export const DISASTERS: readonly Disaster[] = [none, threads, kill]
