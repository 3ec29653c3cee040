/** Faults of a store. Those that are found soonest come first. */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { toJson } from '../../../client/json.ts'
import type { Change } from '../../../service/store/change-feed.ts'
import {
  isRefusal,
  type PlantPage,
  type StoredPlant,
  StoreUnavailable,
} from '../../../service/store/plant-store.ts'
import { isExpected } from '../../../src/stores/shared/plant-change.ts'
import { onChange } from '../../helpers/plants/single-changes.ts'
import { pageWith, plantsIn } from '../../stores/plants.ts'
import type { StoreFault } from './faulty-service.ts'

/** One call in this many goes wrong. */
const RARE = 20

const earlyResponse: StoreFault = {
  name: 'a response before the commit',
  plant: (store, random) => ({
    change: onChange(
      'remove',
      async (change) => {
        const plant = await store.get(change.id)
        if (plant === undefined || change.expected !== undefined || !random.oneIn(RARE)) {
          return store.change(change)
        }
        setTimeout(5)
          .then(() => store.change(change))
          .catch(() => {})
        return 'removed'
      },
      store,
    ),
  }),
}

const oldSnapshot: StoreFault = {
  name: 'a read from an old snapshot',
  plant: (store, random) => {
    const earlier = new Map<bigint, StoredPlant | undefined>()
    return {
      get: async (id) => {
        if (earlier.has(id) && random.oneIn(RARE)) return earlier.get(id)
        const plant = await store.get(id)
        earlier.set(id, plant)
        return plant
      },
    }
  },
}

const lostRemoval: StoreFault = {
  name: 'a removal that is lost',
  plant: (store, random) => ({
    change: onChange(
      'remove',
      async (change) => {
        const plant = await store.get(change.id)
        const result = await store.change(change)
        if (result === 'removed' && plant !== undefined && random.oneIn(RARE)) {
          await store.change({ ...plant, type: 'create' })
        }
        return result
      },
      store,
    ),
  }),
}

const rolledBackReplay: StoreFault = {
  name: 'a replay of a create that was rolled back',
  plant: (store, random) => {
    const rolledBack = new Set<string>()
    return {
      change: onChange(
        'create',
        async (change) => {
          const key = toJson(change)
          if (rolledBack.has(key)) return 'unchanged'
          if (!random.oneIn(RARE)) return store.change(change)
          rolledBack.add(key)
          throw new StoreUnavailable('failing', 'rolled back')
        },
        store,
      ),
    }
  },
}

const halfBatch: StoreFault = {
  name: 'a list in two transactions',
  plant: (store) => ({
    apply: async (changes, mode) => {
      const first = await store.apply(changes.slice(0, 1), mode)
      if (!Array.isArray(first) || first.some(isRefusal)) return store.apply(changes, mode)
      await setTimeout(5)
      const others = await store.apply(changes.slice(1), mode)
      return Array.isArray(others) ? [...first, ...others] : others
    },
  }),
}

const droppedFields: StoreFault = {
  name: 'a create that drops the own fields',
  hasFields: true,
  plant: (store, random) => ({
    change: onChange(
      'create',
      (change) => {
        const { fields: _, ...others } = change
        return store.change(random.oneIn(RARE) ? others : change)
      },
      store,
    ),
  }),
}

const unguardedUpdate: StoreFault = {
  name: 'If-Match checked before the transaction',
  plant: (store) => ({
    change: onChange(
      'update',
      async ({ expected, ...change }) => {
        const plant = await store.get(change.id)
        if (plant === undefined) return 'plant-not-found'
        if (!isExpected(plant, expected)) return 'plant-changed'
        await setImmediate()
        return store.change(change)
      },
      store,
    ),
  }),
}

const lostUpdate: StoreFault = {
  name: 'an update that overwrites another',
  plant: (store) => ({
    change: onChange(
      'update',
      async (change) => {
        const plant = await store.get(change.id)
        if (plant === undefined || change.expected !== undefined) return store.change(change)
        await setImmediate()
        const patch = { name: plant.name, tag: plant.tag ?? null, ...change.patch }
        return store.change({ ...change, patch })
      },
      store,
    ),
  }),
}

const tornPage: StoreFault = {
  name: 'a page of two snapshots',
  plant: (store) => ({
    list: async ({ limit, ...request }) => {
      const first = await store.list({ ...request, limit: Math.ceil(limit / 2) })
      if (limit === 1 || first.next === undefined) return first
      await setTimeout(2)
      const rest = { ...request, after: first.next, limit: Math.floor(limit / 2) }
      return joined(first, await store.list(rest))
    },
    getAll: async (ids) => {
      const half = Math.ceil(ids.length / 2)
      const first = await store.getAll(ids.slice(0, half))
      if (ids.length === 1) return first
      await setTimeout(2)
      return joined(first, await store.getAll(ids.slice(half)))
    },
  }),
}

function joined(first: PlantPage, second: PlantPage): PlantPage {
  return pageWith([first, second].flatMap(plantsIn), second.next)
}

const conflictReplayed: StoreFault = {
  name: 'a conflict answered like a replay',
  plant: (store, random) => ({
    change: onChange(
      'create',
      async (change) => {
        const result = await store.change(change)
        return result === 'plant-exists' && random.oneIn(RARE) ? 'unchanged' : result
      },
      store,
    ),
  }),
}

const skippingFeed: StoreFault = {
  name: 'a feed that skips on resumption',
  plant: (store, random) =>
    feedWith(store, (changes) => (random.oneIn(RARE) ? changes.slice(1) : changes)),
}

const repeatingFeed: StoreFault = {
  name: 'a feed that repeats on resumption',
  plant: (store, random) => {
    let last: Change | undefined
    return feedWith(store, (changes) => {
      const repeated = last !== undefined && random.oneIn(RARE) ? [last] : []
      last = changes.at(-1) ?? last
      return [...repeated, ...changes]
    })
  },
}

const disorderedFeed: StoreFault = {
  name: 'a feed out of order',
  plant: (store, random) =>
    feedWith(store, (changes) => {
      const [first, second, ...rest] = changes
      const isSwapped = first !== undefined && second !== undefined && random.oneIn(RARE)
      return isSwapped ? [second, first, ...rest] : changes
    }),
}

/** A feed whose pages after a cursor are changed unless they are empty. */
function feedWith(
  store: Parameters<StoreFault['plant']>[0],
  change: (changes: readonly Change[]) => readonly Change[],
): ReturnType<StoreFault['plant']> {
  return {
    readChanges: async (request) => {
      const page = await store.readChanges(request)
      const isResumed = typeof page === 'object' && request.after !== undefined
      return isResumed && page.changes.length > 0
        ? { ...page, changes: change(page.changes) }
        : page
    },
  }
}

export const STORE_FAULTS: readonly StoreFault[] = [
  oldSnapshot,
  droppedFields,
  lostRemoval,
  conflictReplayed,
  skippingFeed,
  repeatingFeed,
  earlyResponse,
  halfBatch,
  tornPage,
  lostUpdate,
  unguardedUpdate,
  rolledBackReplay,
  disorderedFeed,
]
