/** A service on SQLite, and a database that mirrors it. */

import type { Test } from 'tap'
import {
  isConsistent,
  type MirrorRestriction,
  readRestriction,
  restrict,
} from '../../service/restriction.ts'
import type { NewPlant, StoredPlant } from '../../service/store/plant-store.ts'
import { type MirrorOptions, mirror } from '../../src/mirror/mirror.ts'
import { type MirrorSource, Source } from '../../src/mirror/source.ts'
import { openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { createIn, removeFrom, updateIn } from '../helpers/plants/single-changes.ts'
import { until } from '../helpers/processes/until.ts'
import { sqlite } from '../helpers/service/engine.ts'
import type { Caller, Service } from '../helpers/service/service.ts'
import { latest } from '../stores/feed-reads.ts'

interface RunOptions extends Partial<Omit<MirrorOptions, 'source'>> {
  /** By default, the source of the previous run. */
  readonly from?: Pick<Caller, 'url' | 'token'>
  /** Changes how the source is read. */
  readonly through?: (source: MirrorSource) => MirrorSource
}

/** A database for a mirror. It is closed when the test ends. */
export class TestMirror {
  readonly database: string
  readonly store: Store
  /** What the runs have reported. */
  readonly lines: string[] = []
  #source: Pick<Caller, 'url' | 'token'>

  static async open(t: Test, source: Caller, engine = sqlite): Promise<TestMirror> {
    const { database } = await engine(t)
    const options = { lockTimeout: 30_000, sameThread: true, readsIncomplete: true }
    const store = await openStore({ database, ...options })
    t.teardown(() => store.close())
    return new TestMirror(database, store, source)
  }

  private constructor(database: string, store: Store, source: Caller) {
    this.database = database
    this.store = store
    this.#source = source
  }

  /** Mirrors, by default until the mirror has caught up. */
  run({
    from = this.#source,
    through = (source) => source,
    ...options
  }: RunOptions = {}): Promise<void> {
    const { signal = new AbortController().signal } = options
    this.#source = from
    return mirror({
      source: through(new Source(from.url, from.token, { signal })),
      store: withRestrict(this.store, (step) => restrict(this.store, step)),
      once: true,
      signal,
      report: {
        copied: (plants) => this.lines.push(`copied ${plants}`),
        behind: (reason) => this.lines.push(`behind: ${reason}`),
        caughtUp: () => this.lines.push('caught up'),
      },
      ...options,
    })
  }

  /** Follows until `stop`, which rejects if the mirror has ended with an error. */
  follow(options: RunOptions = {}): { readonly ended: Promise<void>; stop(): Promise<void> } {
    const stopping = new AbortController()
    const ended = this.run({ once: false, signal: stopping.signal, ...options })
    // The caller looks at it later.
    ended.catch(() => {})
    return {
      ended,
      stop: () => {
        stopping.abort()
        return ended
      },
    }
  }

  async position(): Promise<MirrorRestriction> {
    return (await readRestriction(this.store)) as MirrorRestriction
  }

  /** Resolves once the mirror has caught up with a service. */
  async catchesUp({ store }: Service): Promise<void> {
    const cursor = await latest(store)
    await until('the mirror has caught up', async () => {
      const position = await this.position()
      return position.cursor === cursor && isConsistent(position)
    })
  }
}

export async function plantsOf(store: Store): Promise<StoredPlant[]> {
  return (await Array.fromAsync(store.exportPlants())).flat()
}

/** Stores plants with ids that are multiples of 10. */
export async function fill(store: Store, count: number, name = 'Abies'): Promise<void> {
  const plants = Array.from({ length: count }, (_, index): NewPlant => {
    const plant = { id: 10n * BigInt(index - 1000), name: `${name} ${index}` }
    return index % 3 === 0 ? { ...plant, tag: '' } : plant
  })
  await importPlants(store, plants, 'replace')
}

/** Changes some of those plants in every way. */
export async function change(store: Store, round = 0): Promise<void> {
  const base = 10n * BigInt(round)
  await createIn(store, { id: base + 1n, name: 'created' })
  await createIn(store, { id: base + 2n, name: 'created' })
  await removeFrom(store, base + 2n)
  await removeFrom(store, base - 9990n)
  await createIn(store, { id: base - 9990n, name: 'created again', tag: 'Tree' })
  await updateIn(store, base + 2000n, { name: `changed ${round}`, tag: null })
  await removeFrom(store, base + 1000n)
}

/** Replaces `restrict` of a store. */
export function withRestrict(
  store: Store,
  restrict: MirrorOptions['store']['restrict'],
): MirrorOptions['store'] {
  return {
    restrict,
    readRestriction: () => readRestriction(store),
    list: (request) => store.list(request),
  }
}
