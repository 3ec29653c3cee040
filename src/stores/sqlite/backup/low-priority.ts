import { constants, getPriority, setPriority } from 'node:os'

/**
 * Lets the service have the processor first, above all during the verification of a backup. On Linux this affects only
 * the calling thread.
 */
export function lowerPriority(set: (priority: number) => void = setPriority): void {
  try {
    set(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {
    // A sandbox may forbid it.
  }
}
