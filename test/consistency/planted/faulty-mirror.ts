/** `plant-store mirror` with a fault. */

import { parseArgs } from 'node:util'
import { readRestriction, restrict } from '../../../service/restriction.ts'
import { prepareSource } from '../../../src/commands/mirror/source-access.ts'
import { type MirrorOptions, mirror } from '../../../src/mirror/mirror.ts'
import type { MirrorSource } from '../../../src/mirror/source.ts'
import { openStore } from '../../../src/stores/engines.ts'
import type { Store } from '../../../src/stores/shared/store.ts'

/** What is faulty. */
export interface MirrorFault {
  readonly readChanges?: (source: MirrorSource) => MirrorSource['readChanges']
  readonly restrict?: (store: Store) => MirrorOptions['store']['restrict']
}

/** Runs the command with the arguments of the process. */
export async function runFaulty({ readChanges, restrict: faulty }: MirrorFault): Promise<void> {
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
  const options = { lockTimeout: 30_000, sameThread: true, readsIncomplete: true }
  const store = await openStore({ database, ...options })
  const source = prepareSource(url)([])
  await mirror({
    source: {
      url: source.url,
      readPlants: (after) => source.readPlants(after),
      readChanges: readChanges?.(source) ?? ((after, wait) => source.readChanges(after, wait)),
    },
    store: {
      restrict: faulty?.(store) ?? ((step) => restrict(store, step)),
      readRestriction: () => readRestriction(store),
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
}
