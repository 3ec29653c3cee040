import type { Attack } from './attacker.ts'
import { bodyAttacks } from './bodies.ts'
import { connectionAttacks } from './connections.ts'
import { largePlantAttacks } from './large-plants.ts'
import { waitingAttacks } from './waiting.ts'

export const attacks: readonly Attack[] = [
  ...bodyAttacks,
  ...connectionAttacks,
  ...waitingAttacks,
  ...largePlantAttacks,
]
