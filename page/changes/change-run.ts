import { NO_COUNTS } from '../../client/batches.ts'
import {
  type CallOptions,
  type ChangeCounts,
  type Plant,
  type PlantStoreClient,
  ServiceError,
  type StoredPlant,
  type UnexpectedResponseError,
} from '../../client/client.ts'
import { hasCondition } from '../../client/errors.ts'
import { limits } from '../../core/generated/limits.gen.ts'
import { keysOf } from '../../core/known.ts'
import { hasSameContent } from '../model/current-members.ts'
import { findPlants } from './find-plants.ts'
import {
  firstStep,
  type Intent,
  lengthOf,
  rebase,
  reverse,
  type Step,
  toChange,
  toPatch,
} from './intent.ts'
import {
  describeConflict,
  describeRefusal,
  isRace,
  isRefusal,
  isTooLarge,
  mayHaveTakenEffect,
  type Refusal,
} from './refusal.ts'

export type ChangeClient = Pick<
  PlantStoreClient,
  'changePlants' | 'plants' | 'createPlant' | 'getPlant' | 'updatePlant' | 'deletePlant'
>

export interface ChangeOptions<Each extends Intent> {
  readonly client: ChangeClient
  /** Whether stored plants can be read. Otherwise, plants can only be added. */
  readonly canRead: boolean
  /** Whether all plants get the same value, so that none is stored if the service refuses one as invalid. */
  readonly areAlike?: boolean
  readonly signal: AbortSignal
  /**
   * Called with what takes the changes back, after each list of them.
   *
   * @param unknown how many plants were added by this run or, with the same content, by somebody else
   */
  readonly onChanged: (undo: readonly Intent[], unknown: number) => Promise<void>
  /** An error that it throws ends the run if `canRead` is false. */
  readonly onRefused: (refusal: Refusal<Each>) => void
  /** Called with what is stored once an intent is carried out. */
  readonly onStored?: (plant: Plant | undefined) => void
  /** Called after each list. */
  readonly onProgress: (counts: ChangeCounts) => void
  /** Called when the service cannot be used. The run continues when the promise resolves. */
  readonly onFailure: (error: unknown) => Promise<void>
}

/** The intent was carried out, and this is stored now, or somebody else has changed the same. */
export type SaveResult =
  | {
      readonly kind: 'done'
      readonly plant: Plant | undefined
      /** Takes it back. Undefined if nothing had to be changed, or perhaps not. */
      readonly undo?: Intent | undefined
    }
  | { readonly kind: 'conflict'; readonly stored: StoredPlant | undefined }

/** The text of a list, in UTF-16 units: less than the service's default limit of 1 MiB for a body. */
const TEXT_MAX = 2 ** 18

/** Half of the contract's limit, so that the names of members also fit into a body. */
const CHANGES_MAX = limits.changePlants.body.maxItems / 2

/** How often plants can change between looking at them and changing them. */
const RACES_MAX = 3

/** How a list is sent. */
interface Sending {
  /** Whether an earlier attempt may have carried it out. */
  readonly isUncertain?: boolean
  /** Whether its only change is too large for a list. */
  readonly isAlone?: boolean
}

/**
 * Carries out any number of intents, in lists, together with what others have changed since the person saw the plants,
 * unless both have changed the same member, or deleted the plant. Repeating a run is safe.
 */
export class ChangeRun<Each extends Intent> {
  readonly #options: ChangeOptions<Each>
  readonly #list = new Map<bigint, Step<Each>>()
  #length = 0
  readonly #counts = { ...NO_COUNTS }

  constructor(options: ChangeOptions<Each>) {
    this.#options = options
  }

  /**
   * Adds an intent, and sends those before it if they are enough for a list.
   *
   * @throws the reason of the signal, and what `onFailure` and `onRefused` throw
   */
  async add(intent: Each): Promise<void> {
    const { id, before, after } = intent
    const earlier = this.#list.get(id)
    const isSame = earlier !== undefined && hasSameContent(after, earlier.next)
    if (isSame || hasSameContent(after, before)) {
      this.#counts.unchanged += 1
      return
    }
    // The service refuses lists that change a plant twice.
    if (earlier !== undefined) await this.flush()
    const step = firstStep(intent)
    this.#list.set(id, step)
    this.#length += lengthOf(step)
    if (this.#list.size === CHANGES_MAX || this.#length >= TEXT_MAX) await this.flush()
  }

  /** Sends what was added since the last list. */
  async flush(): Promise<void> {
    const steps = [...this.#list.values()]
    this.#list.clear()
    this.#length = 0
    try {
      await this.#send(steps)
    } finally {
      this.#options.onProgress({ ...this.#counts })
    }
  }

  /** Carries out a single intent. */
  async save(intent: Each, isUncertain: boolean): Promise<void> {
    await this.#send([firstStep(intent)], { isUncertain })
  }

  async #send(steps: readonly Step<Each>[], sending: Sending = {}): Promise<void> {
    const { canRead, signal } = this.#options
    const { isAlone = false } = sending
    let { isUncertain = false } = sending
    let rest = steps
    let isOutdated = false
    for (let races = 0; rest.length > 0; ) {
      try {
        signal.throwIfAborted()
        if (isOutdated) {
          rest = await this.#look(rest, isUncertain)
          isOutdated = isUncertain = false
        } else {
          const counts = await this.#transmit(rest, isAlone)
          return await this.#addSent(rest, counts, { isUncertain, isAlone })
        }
      } catch (error) {
        if (isRace(error) && canRead && races < RACES_MAX) {
          races += 1
          isOutdated = true
          isUncertain ||= !(error instanceof ServiceError)
        } else if (isRefusal(error)) {
          return await this.#sendHalves(rest, error, { isUncertain, isAlone })
        } else {
          isUncertain ||= !isOutdated && mayHaveTakenEffect(error)
          await this.#waitForPerson(error, isUncertain ? rest : [])
        }
      }
    }
  }

  async #transmit(steps: readonly Step<Each>[], isAlone: boolean): Promise<ChangeCounts> {
    const { client, signal } = this.#options
    const [step] = steps
    if (isAlone && step !== undefined) return sendAlone(client, step, { signal })
    return client.changePlants(steps.map(toChange), { signal })
  }

  async #addSent(
    steps: readonly Step<Each>[],
    counts: ChangeCounts,
    { isUncertain = false, isAlone = false }: Sending,
  ): Promise<void> {
    for (const { next } of steps) this.#options.onStored?.(next)
    // An attempt carries out all of a list or nothing.
    if (isUncertain && counts.unchanged === steps.length) return this.#addDone(steps, true)
    for (const name of keysOf(NO_COUNTS)) this.#counts[name] += counts[name]
    // Only plants to add can be there already, and it is unknown which.
    const isKnown = counts.unchanged === 0 && !isAlone
    const mine = isKnown ? steps : steps.filter((step) => !isAddition(step))
    await this.#options.onChanged(mine.map(reverse), steps.length - mine.length)
  }

  /**
   * Counts steps whose result is stored already.
   *
   * @param areMine whether an earlier attempt may have made them
   */
  async #addDone(steps: readonly Step<Each>[], areMine: boolean): Promise<void> {
    for (const step of steps) this.#counts[areMine ? effectOf(step) : 'unchanged'] += 1
    // The client may have repeated a request that added plants.
    const unknown = areMine ? 0 : steps.filter(isAddition).length
    await this.#options.onChanged(areMine ? steps.map(reverse) : [], unknown)
  }

  /** Finds out what is done already, and what others have changed. Returns what is left to do. */
  async #look(steps: readonly Step<Each>[], isUncertain: boolean): Promise<readonly Step<Each>[]> {
    const { client, signal, onRefused, onStored } = this.#options
    const ids = steps.map(({ intent }) => intent.id)
    const plants = await findPlants(client, ids, signal)
    const done: Step<Each>[] = []
    const rest: Step<Each>[] = []
    for (const step of steps) {
      const { intent } = step
      const stored = plants.get(intent.id)
      const next = rebase(intent, stored)
      if (next === undefined) {
        const isTaken = isAddition(step) && !isUncertain
        onRefused({ intent, reason: describeConflict(intent, stored), stored, isTaken })
      } else if (hasSameContent(next.stored, next.next)) {
        done.push(step)
        onStored?.(next.next)
      } else {
        rest.push(next)
      }
    }
    await this.#addDone(done, isUncertain)
    return rest
  }

  /** Finds out which steps the service refuses, or sends fewer at a time. */
  async #sendHalves(
    steps: readonly Step<Each>[],
    error: ServiceError | UnexpectedResponseError,
    sending: Sending,
  ): Promise<void> {
    const { areAlike, onRefused } = this.#options
    const [step] = steps
    if (step === undefined || steps.length > 1) {
      const middle = Math.ceil(steps.length / 2)
      await this.#send(steps.slice(0, middle), sending)
      return this.#send(steps.slice(middle), sending)
    }
    if (isTooLarge(error) && !sending.isAlone) {
      return this.#send(steps, { ...sending, isAlone: true })
    }
    if (areAlike && error.status === 400) throw error
    const isTaken = hasCondition(error, 'plant-exists') && !sending.isUncertain
    onRefused({ intent: step.intent, reason: describeRefusal(error), error, isTaken })
  }

  /** @param steps what may have been made */
  async #waitForPerson(error: unknown, steps: readonly Step<Each>[]): Promise<void> {
    const { signal, onFailure, onChanged } = this.#options
    try {
      signal.throwIfAborted()
      await onFailure(error)
    } catch (end) {
      // Taking back what was not done has no effect, unless somebody else does the same.
      await onChanged(steps.map(reverse), 0)
      throw end
    }
  }
}

/**
 * Carries out one intent like a run.
 *
 * @param isUncertain whether an earlier attempt may have carried it out
 * @throws what the client throws
 */
export async function save(
  client: ChangeClient,
  intent: Intent,
  canRead: boolean,
  isUncertain = false,
): Promise<SaveResult> {
  let plant: Plant | undefined
  let undo: Intent | undefined
  let refusal: Refusal<Intent> | undefined
  const { signal } = new AbortController()
  const run = new ChangeRun<Intent>({
    client,
    canRead,
    signal,
    onStored: (stored) => {
      plant = stored
    },
    onChanged: async ([first]) => {
      undo = first
    },
    onRefused: (refused) => {
      refusal = refused
    },
    onProgress: () => {},
    onFailure: (error) => Promise.reject(error),
  })
  await run.save(intent, isUncertain)
  if (refusal?.error !== undefined) throw refusal.error
  if (refusal !== undefined) return { kind: 'conflict', stored: refusal.stored }
  return { kind: 'done', plant, undo: intent.before && undo }
}

/** Makes a change with the request for a single plant, which is shorter than a list. */
async function sendAlone(
  client: ChangeClient,
  step: Step,
  options: CallOptions,
): Promise<ChangeCounts> {
  const { intent, stored, next } = step
  const { id } = intent
  if (stored === undefined) await client.createPlant({ ...(next as Plant), id }, options)
  else {
    const { plant, etag: ifMatch } = await client.getPlant(id, options)
    if (!hasSameContent(plant, stored)) throw new ServiceError('plant-changed', 'has changed')
    const condition = { ...options, ifMatch }
    if (next === undefined) await client.deletePlant(id, condition)
    else await client.updatePlant(id, toPatch(stored, next), condition)
  }
  return { ...NO_COUNTS, [effectOf(step)]: 1 }
}

function isAddition({ intent }: Step): boolean {
  return intent.before === undefined
}

/** How a step that is made counts. */
function effectOf({ intent: { before, after } }: Step): keyof ChangeCounts {
  if (before === undefined) return 'created'
  return after === undefined ? 'removed' : 'changed'
}
