import {
  type ChangeCounts,
  type PlantStoreClient,
  PlantStoreError,
  type StoredPlant,
  type UnexpectedAnswerError,
} from '../../client/client.ts'
import { hasCondition } from '../../client/errors.ts'
import { hasSameContent } from '../model/current-members.ts'
import {
  type DeliveryClient,
  deliver,
  type Intent,
  isRace,
  reverse,
  type SaveResult,
} from './delivery.ts'
import { findPlants, REQUESTS_MAX } from './find-plants.ts'
import { ChangeList } from './intent-list.ts'
import {
  describeConflict,
  describeRefusal,
  isRefusal,
  isTooLarge,
  mayHaveTakenEffect,
  type Refusal,
} from './refusal.ts'

export type ChangeClient = DeliveryClient & Pick<PlantStoreClient, 'changePlants' | 'plants'>

export interface ChangeOptions<Each extends Intent> {
  readonly client: ChangeClient
  /** Whether the token permits reading plants. Otherwise, plants can only be added. */
  readonly canRead: boolean
  /** Whether to end at the first plant whose id has a different one. Plants can then only be added. */
  readonly stopsAtConflict?: boolean
  /** Whether all plants get the same value, so that none is stored if the service refuses one as invalid. */
  readonly areAlike?: boolean
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
    const isSame = earlier !== undefined && hasSameContent(after, earlier.after)
    if (isSame || hasSameContent(after, before)) {
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
   * @param wasRefused whether the plants are as the person has seen them, but were refused before
   */
  async #send(
    intents: readonly Each[],
    { isUncertain = false, wasRefused = false } = {},
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
      return this.#recover(listed, error, isUncertain, wasRefused)
    }
    await this.#addListed(listed, counts, isUncertain)
  }

  async #recover(
    intents: readonly Each[],
    error: unknown,
    isUncertain: boolean,
    wasRefused: boolean,
  ): Promise<void> {
    const { canRead, stopsAtConflict } = this.#options
    if (isRace(error) && canRead && !stopsAtConflict) {
      const isKnown = error instanceof PlantStoreError && !isUncertain
      await this.#sendUnchanged(intents, !isKnown, wasRefused)
    } else if (isRefusal(error)) {
      await this.#sendHalves(intents, error, isUncertain)
    } else {
      const mayBeDone = isUncertain || mayHaveTakenEffect(error)
      await this.#waitForPerson(error, mayBeDone ? intents : [])
      await this.#send(intents, { isUncertain: mayBeDone, wasRefused })
    }
  }

  async #addListed(
    intents: readonly Each[],
    counts: ChangeCounts,
    isUncertain: boolean,
  ): Promise<void> {
    // An attempt carries out all of a list or nothing.
    if (isUncertain && counts.unchanged === intents.length) return this.#addDone(intents, true)
    for (const name of ['created', 'changed', 'removed', 'unchanged'] as const) {
      this.#counts[name] += counts[name]
    }
    // Only plants to add can be there already, and it is unknown which.
    const mine = counts.unchanged === 0 ? intents : intents.filter((intent) => !isAddition(intent))
    await this.#options.onChanged(mine.map(reverse), intents.length - mine.length)
  }

  /**
   * Counts intents whose result is stored already.
   *
   * @param isUncertain whether an earlier attempt may have carried them out
   */
  async #addDone(intents: readonly Each[], isUncertain: boolean): Promise<void> {
    for (const intent of intents) this.#count(isUncertain ? intent : undefined)
    // The client may have repeated a request that added plants.
    const unknown = isUncertain ? 0 : intents.filter(isAddition).length
    await this.#options.onChanged(isUncertain ? intents.map(reverse) : [], unknown)
  }

  /** Sends those again whose plants are as the person has seen them, in a list, and the others one by one. */
  async #sendUnchanged(
    intents: readonly Each[],
    isUncertain: boolean,
    wasRefused: boolean,
  ): Promise<void> {
    const { client, signal } = this.#options
    const ids = intents.map(({ id }) => id)
    const stored = await this.#untilReached(
      () => findPlants(client, ids, signal),
      isUncertain ? intents : [],
    )
    const done: Each[] = []
    const same: Each[] = []
    const others: Each[] = []
    for (const intent of intents) {
      const plant = stored.get(intent.id)
      if (hasSameContent(plant, intent.after)) done.push(intent)
      else if (hasSameContent(plant, intent.before)) same.push(intent)
      else if (isAddition(intent)) this.#refuse(intent, plant, !isUncertain)
      else others.push(intent)
    }
    await this.#addDone(done, isUncertain)
    // Without any change by others, the tags are not those of the service.
    if (wasRefused && same.length === intents.length) this.#list.distrustTags()
    await this.#deliverEach(wasRefused ? [...others, ...same] : others, isUncertain)
    if (!wasRefused) await this.#send(same, { wasRefused: true })
  }

  /** Finds out which intents the service refuses, or sends fewer at a time. */
  async #sendHalves(
    intents: readonly Each[],
    error: PlantStoreError | UnexpectedAnswerError,
    isUncertain: boolean,
  ): Promise<void> {
    const [intent] = intents
    if (intent === undefined || intents.length > 1) {
      const middle = Math.ceil(intents.length / 2)
      await this.#send(intents.slice(0, middle), { isUncertain })
      await this.#send(intents.slice(middle), { isUncertain })
      return
    }
    const { areAlike, stopsAtConflict, onRefused } = this.#options
    if (isTooLarge(error) && !stopsAtConflict) {
      // The request for a single change is shorter than a list with it.
      await this.#deliverEach([intent], isUncertain)
      return
    }
    if (areAlike && error.status === 400) throw error
    const exists = hasCondition(error, 'plant-exists')
    onRefused({ intent, reason: describeRefusal(error), isTaken: exists && !isUncertain })
    if (stopsAtConflict && exists) throw new ConflictError()
  }

  /** @param isUncertain whether an earlier attempt may have carried out the intents */
  async #deliverEach(intents: readonly Each[], isUncertain = false): Promise<void> {
    const queue = intents.values()
    const undo: Intent[] = []
    let unknown = 0
    const work = async () => {
      for (const intent of queue) {
        const result = await this.#deliver(intent, isUncertain)
        if (result?.kind !== 'done') continue
        if (result.undo !== undefined) undo.push(result.undo)
        else if (isAddition(intent)) unknown += 1
        this.#count(result.undo === undefined && !isAddition(intent) ? undefined : intent)
      }
    }
    const workers = await Promise.allSettled(Array.from({ length: REQUESTS_MAX }, work))
    // A canceled run never repeats these, and an earlier attempt may have carried them out.
    if (isUncertain) undo.push(...queue.map(reverse))
    await this.#options.onChanged(undo, unknown)
    for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  }

  async #deliver(intent: Each, wasUncertain: boolean): Promise<SaveResult | undefined> {
    const { client, canRead, signal, onRefused } = this.#options
    const attempt = (isRepeated: boolean) =>
      deliver(client, intent, canRead, { signal, isUncertain: wasUncertain || isRepeated })
    try {
      const result = await this.#untilReached(attempt, [intent])
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
    else if (isAddition(intent)) this.#counts.created += 1
    else if (intent.after === undefined) this.#counts.removed += 1
    else this.#counts.changed += 1
  }

  #refuse(intent: Each, stored: StoredPlant | undefined, isTaken = false): void {
    this.#options.onRefused({ intent, reason: describeConflict(intent, stored), stored, isTaken })
  }

  /**
   * Repeats an action until it succeeds or is refused. Before each repetition, the person decides.
   *
   * @param intents what a failed attempt may have carried out
   */
  async #untilReached<Result>(
    action: (isRepeated: boolean) => Promise<Result>,
    intents: readonly Each[],
  ): Promise<Result> {
    let isRepeated = false
    for (;;) {
      try {
        return await action(isRepeated)
      } catch (error) {
        if (isRefusal(error)) throw error
        isRepeated ||= mayHaveTakenEffect(error)
        await this.#waitForPerson(error, isRepeated ? intents : [])
      }
    }
  }

  /** @param intents what may have been carried out */
  async #waitForPerson(error: unknown, intents: readonly Each[]): Promise<void> {
    const { signal, onFailure, onChanged } = this.#options
    try {
      signal.throwIfAborted()
      // Several requests can fail at once.
      this.#pause ??= onFailure(error).finally(() => {
        this.#pause = undefined
      })
      await this.#pause
    } catch (end) {
      // Taking back what was not done has no effect, unless somebody else does the same.
      await onChanged(intents.map(reverse), 0)
      throw end
    }
  }
}

function isAddition({ before }: Intent): boolean {
  return before === undefined
}
