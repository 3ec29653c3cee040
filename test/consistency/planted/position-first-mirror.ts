/** `plant-store mirror` with a fault: each step stores the position, and a moment later the plants. */
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { RestrictionStep } from '../../../service/restriction.ts'
import { prepareSource } from '../../../src/commands/mirror/source-access.ts'
import { mirror } from '../../../src/mirror/mirror.ts'
import { openStore } from '../../../src/stores/engines.ts'

/** The time between the position and the plants, in milliseconds. */
const MOMENT_MS = 50

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: '' },
    once: { type: 'boolean' },
    restart: { type: 'boolean' },
  },
})
const [, url = ''] = positionals
const { database, once, restart } = values
const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })

async function restrict({ expected, next, changes = [] }: RestrictionStep) {
  const result = await store.restrict({ expected, next })
  if (result !== 'done' || changes.length === 0) return result
  await setTimeout(MOMENT_MS)
  return store.restrict({ expected: next, next, changes })
}

await mirror({
  source: prepareSource(url)([]),
  store: {
    restrict,
    readRestriction: () => store.readRestriction(),
    list: (request) => store.list(request),
  },
  once,
  restart,
  signal: new AbortController().signal,
  report: {
    copied: () => {},
    behind: (reason) => console.error(reason),
    caughtUp: () => console.log('caught up'),
  },
})
await store.close()
