/** Runs of changes, and what they report. */
import type { Test } from 'tap'
import { type ChangeCounts, createClient, type StoredPlant } from '../../../client/client.ts'
import {
  type ChangeClient,
  type ChangeOptions,
  ChangeRun,
} from '../../../page/changes/change-run.ts'
import type { Intent } from '../../../page/changes/intent.ts'
import { type Exchange, type Fault, passed } from '../../client/faulty-proxy.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import type { Service } from '../../helpers/service/service.ts'

export type Options = Partial<ChangeOptions<Intent>>

export interface Result {
  readonly counts: ChangeCounts
  readonly refused: readonly (readonly [id: bigint, reason: string, stored?: StoredPlant])[]
  /** What takes the changes back, in the order in which it was recorded. */
  readonly undo: readonly Intent[]
  readonly unknown: number
  /** How the run ended early. */
  readonly error: unknown
}

/** Carries out intents, and checks that each is counted, refused or, if the run ends early, perhaps neither. */
export async function run(
  t: Test,
  service: Service,
  intents: readonly Intent[],
  options: Options = {},
): Promise<Result> {
  const refused: (readonly [bigint, string, StoredPlant?])[] = []
  const undo: Intent[] = []
  let counts: ChangeCounts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
  let unknown = 0
  let error: unknown
  const changes = new ChangeRun<Intent>({
    client: createClient(service),
    canRead: true,
    signal: new AbortController().signal,
    onChanged: async (intents, others) => {
      undo.push(...intents)
      unknown += others
    },
    onRefused: ({ intent: { id }, reason, stored }) =>
      refused.push(stored === undefined ? [id, reason] : [id, reason, stored]),
    onProgress: (latest) => {
      counts = latest
    },
    onFailure: (failure) => Promise.reject(failure),
    ...options,
  })
  try {
    for (const intent of intents) await changes.add(intent)
    await changes.flush()
  } catch (end) {
    error = end
  }
  const { created, changed, removed, unchanged } = counts
  const total = created + changed + removed + unchanged + refused.length
  if (error === undefined) t.equal(total, intents.length, 'each plant is counted once')
  t.equal(new Set(undo.map(({ id }) => id)).size, undo.length, 'each plant is taken back once')
  return { counts, refused: refused.sort(byId), undo, unknown, error }
}

function byId([one]: readonly [bigint, ...unknown[]], [other]: readonly [bigint, ...unknown[]]) {
  return Number(one - other)
}

/** Plants with consecutive ids. */
export function named(name: string, start: number, count: number): StoredPlant[] {
  return Array.from({ length: count }, (_, index) => ({ id: BigInt(start + index), name }))
}

export async function store(service: Service, plants: readonly StoredPlant[]): Promise<void> {
  await importPlants(service.store, plants, 'replace')
}

export function adding({ id, ...after }: StoredPlant): Intent {
  return { id, before: undefined, after }
}

export function removing({ id, ...before }: StoredPlant): Intent {
  return { id, before, after: undefined }
}

/** Changes the tag of a plant. */
export function tagging(tag: string): (plant: StoredPlant) => Intent {
  return ({ id, ...before }) => ({ id, before, after: { ...before, tag } })
}

/** Renames a plant. */
export function renaming(name: string): (plant: StoredPlant) => Intent {
  return ({ id, ...before }) => ({ id, before, after: { ...before, name } })
}

/** Forwards a request after something else has happened. */
export function after(change: () => Promise<unknown>, fault: Fault = passed): Fault {
  return async (exchange: Exchange) => {
    await change()
    await fault(exchange)
  }
}

/** A client some of whose methods are replaced. */
export function clientWith(client: ChangeClient, methods: Partial<ChangeClient>): ChangeClient {
  const { changePlants, createPlant, deletePlant, getPlant, plants, updatePlant } = client
  const original = { changePlants, createPlant, deletePlant, getPlant, plants, updatePlant }
  const bound = Object.entries(original).map(([name, method]) => [name, method.bind(client)])
  return { ...Object.fromEntries(bound), ...methods }
}
