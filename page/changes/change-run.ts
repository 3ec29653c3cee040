import {
  type ChangeCounts,
  type PlantStoreClient,
  PlantStoreError,
  type StoredPlant,
} from '../../client/client.ts'
import { hasCondition } from '../../client/errors.ts'
import { hasSameContent } from '../model/members.ts'
import { ChangeList } from './change-list.ts'
import {
  type DeliveryClient,
  deliver,
  type Intent,
  isRace,
  reverse,
  type SaveResult,
} from './delivery.ts'
import { findPlants } from './find-plants.ts'

/** An intent that is not carried out. */
export interface Refusal<Each extends Intent> {
  readonly intent: Each
  /** Without a final period. */
  readonly reason: string
  /** The plant that is stored instead. */
  readonly stored?: StoredPlant | undefined
}

export type ChangeClient = DeliveryClient & Pick<PlantStoreClient, 'changePlants' | 'plants'>

export interface ChangeOptions<Each extends Intent> {
  readonly client: ChangeClient
  /** Whether the token permits reading plants. Otherwise, plants can only be added. */
  readonly canRead: boolean
  /** Whether to end at the first plant whose id has a different one. Plants can then only be added. */
  readonly stopsAtConflict?: boolean
  readonly signal: AbortSignal
  /**
   * Called with what takes the changes back, after each list of them.
   *
   * @param unknown how many plants were added by this run or, with the same content, by somebody else
   */
  readonly onChanged: (undo: readonly Intent[], unknown: number) => Promise<void>
  readonly onRefused: (refusal: Refusal<Each>) => void
  /** Called after each list. */
  readonly onProgress: (counts: ChangeCounts) => void
  /** Called when the service cannot be used. The run continues when the promise resolves. */
  readonly onFailure: (error: unknown) => Promise<void>
}

/** Ends a run at a plant whose id has a different one. */
export class ConflictError extends Error {}

/** A browser has six connections to a service, and one of them follows the changes. */
const REQUESTS_MAX = 5

const TAKEN = 'A different plant has this id'

const CHANGED = 'Somebody has changed this plant meanwhile'

const DELETED = 'Somebody has deleted this plant meanwhile'

/**
 * Carries out any number of intents, in lists, with the result of `deliver`: a plant that somebody else has changed is
 * changed too, unless both have changed the same. Repeating a run is safe.
 */
export class ChangeRun<Each extends Intent> {
  readonly #options: ChangeOptions<Each>
  readonly #list = new ChangeList<Each>()
  readonly #counts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
  #pause: Promise<void> | undefined

  constructor(options: ChangeOptions<Each>) {
    this.#options = options
  }

  /**
   * Adds an intent, and sends those before it if they are enough for a list.
   *
   * @throws the reason of the signal
   * @throws ConflictError
   */
  async add(intent: Each): Promise<void> {
    const { id, before, after } = intent
    const earlier = this.#list.get(id)
    if (hasSameContent(after, earlier === undefined ? before : earlier.after)) {
      this.#counts.unchanged += 1
      return
    }
    // The service refuses lists that change a plant twice.
    if (earlier !== undefined) await this.flush()
    this.#list.add(intent)
    if (this.#list.isFull) await this.flush()
  }

  /** Sends what was added since the last list. */
  async flush(): Promise<void> {
    try {
      await this.#send(this.#list.take())
    } finally {
      this.#options.onProgress({ ...this.#counts })
    }
  }

  /**
   * @param isUncertain whether an earlier attempt may have carried out the intents
   * @param isSecond whether the plants are as the person has seen them, but were refused before
   */
  async #send(
    intents: readonly Each[],
    { isUncertain = false, isSecond = false } = {},
  ): Promise<void> {
    if (intents.length === 0) return
    const { client, signal } = this.#options
    signal.throwIfAborted()
    const { changes, listed, others } = await this.#list.toChanges(intents)
    await this.#deliverEach(others)
    let counts: ChangeCounts
    try {
      counts = await client.changePlants(changes, { signal })
    } catch (error) {
      // Taking back what was not done has no effect.
      if (signal.aborted) await this.#options.onChanged(listed.map(reverse), 0)
      signal.throwIfAborted()
      return this.#recover(listed, error, isUncertain, isSecond)
    }
    await this.#addListed(listed, counts, isUncertain)
  }

  async #recover(
    intents: readonly Each[],
    error: unknown,
    isUncertain: boolean,
    isSecond: boolean,
  ): Promise<void> {
    const { canRead, stopsAtConflict } = this.#options
    if (isRace(error) && canRead && !stopsAtConflict) {
      const isKnown = error instanceof PlantStoreError && !isUncertain
      await this.#sendUnchanged(intents, !isKnown, isSecond)
    } else if (isRefusal(error)) {
      await this.#sendHalves(intents, error)
    } else {
      await this.#waitForPerson(error)
      await this.#send(intents, { isUncertain: true, isSecond })
    }
  }

  async #addListed(
    intents: readonly Each[],
    counts: ChangeCounts,
    isUncertain: boolean,
  ): Promise<void> {
    for (const name of ['created', 'changed', 'removed', 'unchanged'] as const) {
      this.#counts[name] += counts[name]
    }
    // Only plants to add can be there already, and it is unknown which.
    const isKnown = counts.unchanged === 0 || isUncertain
    const mine = isKnown ? intents : intents.filter(({ before }) => before !== undefined)
    await this.#options.onChanged(mine.map(reverse), intents.length - mine.length)
  }

  /** Sends those again whose plants are as the person has seen them, in a list, and the others one by one. */
  async #sendUnchanged(
    intents: readonly Each[],
    isUncertain: boolean,
    isSecond: boolean,
  ): Promise<void> {
    const stored = await this.#untilReached(() =>
      findPlants(
        this.#options.client,
        intents.map(({ id }) => id),
        this.#options.signal,
      ),
    )
    const done: Each[] = []
    const same: Each[] = []
    const others: Each[] = []
    for (const intent of intents) {
      const plant = stored.get(intent.id)
      if (hasSameContent(plant, intent.after)) done.push(intent)
      else if (hasSameContent(plant, intent.before)) same.push(intent)
      else if (intent.before === undefined) this.#refuse(intent, plant)
      else others.push(intent)
    }
    for (const intent of done) this.#count(isUncertain ? intent : undefined)
    if (isUncertain) await this.#options.onChanged(done.map(reverse), 0)
    if (isSecond) {
      // Without any change by others, the tags are not those of the service.
      if (same.length === intents.length) this.#list.distrustTags()
      others.push(...same)
    } else await this.#send(same, { isSecond: true })
    await this.#deliverEach(others)
  }

  /** Finds out which intents the service refuses. */
  async #sendHalves(intents: readonly Each[], error: PlantStoreError): Promise<void> {
    const [intent] = intents
    if (intent === undefined || intents.length > 1) {
      const middle = Math.ceil(intents.length / 2)
      await this.#send(intents.slice(0, middle))
      await this.#send(intents.slice(middle))
      return
    }
    this.#options.onRefused({ intent, reason: describeRefusal(error) })
    if (this.#options.stopsAtConflict && hasCondition(error, 'plant-exists')) {
      throw new ConflictError(TAKEN)
    }
  }

  async #deliverEach(intents: readonly Each[]): Promise<void> {
    const queue = intents.values()
    const undo: Intent[] = []
    let unknown = 0
    const work = async () => {
      for (const intent of queue) {
        const result = await this.#deliver(intent)
        if (result?.kind !== 'done') continue
        if (result.undo !== undefined) undo.push(result.undo)
        else if (intent.before === undefined) unknown += 1
        this.#count(result.undo === undefined && intent.before !== undefined ? undefined : intent)
      }
    }
    try {
      await Promise.all(Array.from({ length: REQUESTS_MAX }, work))
    } finally {
      await this.#options.onChanged(undo, unknown)
    }
  }

  async #deliver(intent: Each): Promise<SaveResult | undefined> {
    const { client, canRead, signal, onRefused } = this.#options
    try {
      const result = await this.#untilReached(() => deliver(client, intent, canRead, { signal }))
      if (result.kind === 'conflict') this.#refuse(intent, result.stored)
      return result
    } catch (error) {
      if (!isRefusal(error)) throw error
      onRefused({ intent, reason: describeRefusal(error) })
      return undefined
    }
  }

  #count(intent: Intent | undefined): void {
    if (intent === undefined) this.#counts.unchanged += 1
    else if (intent.before === undefined) this.#counts.created += 1
    else if (intent.after === undefined) this.#counts.removed += 1
    else this.#counts.changed += 1
  }

  #refuse(intent: Each, stored: StoredPlant | undefined): void {
    const changed = stored === undefined ? DELETED : CHANGED
    const reason = intent.before === undefined ? TAKEN : changed
    this.#options.onRefused({ intent, reason, stored })
  }

  /** Repeats an action until it succeeds or is refused. Before each repetition, the person decides. */
  async #untilReached<Result>(action: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await action()
      } catch (error) {
        this.#options.signal.throwIfAborted()
        if (isRefusal(error)) throw error
        await this.#waitForPerson(error)
      }
    }
  }

  /** Several requests can fail at once. */
  async #waitForPerson(error: unknown): Promise<void> {
    this.#pause ??= this.#options.onFailure(error)
    await this.#pause
    this.#pause = undefined
  }
}

/** Whether sending the same again is useless. */
function isRefusal(error: unknown): error is PlantStoreError {
  return error instanceof PlantStoreError && [400, 404, 409, 412, 413].includes(error.status)
}

function describeRefusal({ condition, message }: PlantStoreError): string {
  return condition === 'plant-exists' ? TAKEN : `The service refuses the plant: ${message}`
}
