/** `plant-store mirror` with a fault: each step stores the position, and a moment later the plants. */

import { setTimeout } from 'node:timers/promises'
import { restrict } from '../../../service/restriction.ts'
import { runFaulty } from './faulty-mirror.ts'

/** The time between the position and the plants, in milliseconds. */
const MOMENT_MS = 50

await runFaulty({
  restrict:
    (store) =>
    async ({ expected, next, changes = [] }) => {
      const result = await restrict(store, { expected, next })
      if (result !== 'done' || changes.length === 0) return result
      await setTimeout(MOMENT_MS)
      return restrict(store, { expected: next, next, changes })
    },
})
