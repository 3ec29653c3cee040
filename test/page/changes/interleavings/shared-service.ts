/** A service in memory that several clients use. Its requests take effect when the schedule says so. */
import {
  ConnectionError,
  type Plant,
  type PlantChange,
  ServiceError,
  UnknownOutcomeError,
} from '../../../../client/client.ts'
import { members } from '../../../../core/members/members.gen.ts'
import { describePlants } from '../../../../core/members/plant.ts'
import type { ChangeClient } from '../../../../page/changes/change-run.ts'
import { isRace } from '../../../../page/changes/refusal.ts'
import type { Schedule } from '../../../interleavings/schedules.ts'

const { hasSameContent, pickContent } = describePlants(members)

/** What the network does with a request. The client notices that a response is lost, or repeats the request itself. */
export type Delay = 'none' | 'request lost' | 'response lost' | 'repeated'

/** What becomes of a plant. Undefined stands for no plant. */
export interface Write {
  readonly author: string
  readonly id: bigint
  readonly stored: Plant | undefined
  readonly next: Plant | undefined
}

interface CallOptions {
  readonly signal?: AbortSignal
}

interface Call {
  readonly author: string
  readonly signal: AbortSignal | undefined
  /** Whether the client knows less after a repetition. */
  readonly isUncertain?: (error: unknown) => boolean
}

type Plants = Map<bigint, Plant>

export class SharedService {
  plants: Plants = new Map()
  onWrite: (write: Write) => void = () => {}
  readonly #schedule: Schedule
  readonly #nextDelay: () => Delay
  /** The requests that can still take effect. */
  readonly #inFlight = new Set<Promise<unknown>>()

  constructor(schedule: Schedule, nextDelay: () => Delay) {
    this.#schedule = schedule
    this.#nextDelay = nextDelay
  }

  /** Changes a plant at once. */
  put(author: string, id: bigint, next: Plant | undefined): void {
    this.#commit(author, new Map(this.plants).set(id, next as Plant))
  }

  /** Resolves when no request can take effect any more. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  /** What a run uses of a client. */
  client(author: string): ChangeClient {
    const self = this
    return {
      changePlants: (changes: readonly PlantChange[], { signal }: CallOptions = {}) => {
        const isUncertain = (error: unknown) =>
          isRace(error) && changes.some(({ op }) => op !== 'create')
        if (changes.length === 0) return this.#apply(author, changes)
        return this.#call({ author, signal, isUncertain }, () => this.#apply(author, changes))
      },
      async *plants({ id: ids = [] }: { id?: bigint[] }, { signal }: CallOptions = {}) {
        const found = await self.#call({ author, signal }, () =>
          ids.flatMap((id) => {
            const plant = self.plants.get(id)
            return plant === undefined ? [] : [{ id, ...plant }]
          }),
        )
        yield* found
      },
    } as unknown as ChangeClient
  }

  /** Carries out all changes, or none. */
  #apply(author: string, changes: readonly PlantChange[]) {
    const counts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
    const after = new Map(this.plants)
    for (const change of changes) counts[applyTo(after, change)] += 1
    this.#commit(author, after)
    return counts
  }

  #commit(author: string, after: Plants): void {
    const before = this.plants
    this.plants = new Map([...after].filter(([, plant]) => plant !== undefined))
    for (const id of new Set([...before.keys(), ...after.keys()])) {
      const [stored, next] = [before.get(id), after.get(id)]
      if (!hasSameContent(stored, next)) this.onWrite({ author, id, stored, next })
    }
  }

  async #call<Result>({ signal, ...call }: Call, effect: () => Result): Promise<Result> {
    signal?.throwIfAborted()
    const transfer = this.#transfer(call, effect)
    const settled = transfer.then(
      () => {},
      () => {},
    )
    this.#inFlight.add(settled)
    settled.then(() => this.#inFlight.delete(settled))
    // A request that is aborted can still take effect.
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const abort = () => reject(signal?.reason)
    signal?.addEventListener('abort', abort)
    try {
      return await Promise.race([transfer, aborted])
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async #transfer<Result>(
    { author, isUncertain = () => false }: Omit<Call, 'signal'>,
    effect: () => Result,
  ): Promise<Result> {
    await this.#schedule.step(`request of ${author}`)
    const delay = this.#nextDelay()
    if (delay === 'request lost') throw new ConnectionError('lost')
    const [first] = await Promise.allSettled([Promise.try(effect)])
    await this.#schedule.step(`response to ${author}, ${delay}`)
    if (delay === 'response lost') throw new ConnectionError('lost')
    if (delay === 'none') return unwrap(first)
    const [second] = await Promise.allSettled([Promise.try(effect)])
    await this.#schedule.step(`second response to ${author}`)
    if (second.status === 'rejected' && isUncertain(second.reason)) {
      throw new UnknownOutcomeError('the change may have taken effect')
    }
    return unwrap(second)
  }
}

function unwrap<Result>(settled: PromiseSettledResult<Result>): Result {
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}

function applyTo(plants: Plants, change: PlantChange) {
  const { op, id } = change
  const stored = plants.get(id)
  if (change.op === 'create') {
    if (stored === undefined) {
      plants.set(id, pickContent(change))
      return 'created'
    }
    if (hasSameContent(stored, change)) return 'unchanged'
    throw new ServiceError('plant-exists', 'exists')
  }
  if (stored === undefined) throw new ServiceError('plant-not-found', 'not found')
  if (change.ifContent !== undefined && !hasSameContent(stored, change.ifContent))
    throw new ServiceError('plant-changed', 'changed')
  if (op === 'remove') {
    plants.delete(id)
    return 'removed'
  }
  plants.set(id, pickContent({ ...stored, ...change }))
  return 'changed'
}
