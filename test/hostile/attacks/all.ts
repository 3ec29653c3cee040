import type { Attack } from './attack.ts'
import { bodyAttacks } from './bodies.ts'
import { connectionAttacks } from './connections.ts'

export const attacks: readonly Attack[] = [...bodyAttacks, ...connectionAttacks]
