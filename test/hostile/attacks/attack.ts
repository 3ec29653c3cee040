import type { Attacker } from './attacker.ts'

/** What one client can do to harm the others. Scale 1 is the size at which the problem was found. */
export interface Attack {
  readonly name: string
  /** Resolves when everything is sent and, if the attacker reads, answered. */
  run(attacker: Attacker): Promise<void>
}
