import { limits } from '../../../core/generated/limits.gen.ts'
import { contentVersion } from '../../../service/store/content-version.ts'
import {
  hasSameContent,
  mergeFields,
  textLength,
  toContent,
} from '../../../service/store/plant-content.ts'
import {
  type ChangeResult,
  type ChangeType,
  type Expectation,
  LIST_TEXT_MAX,
  type NewPlant,
  type NoMatch,
  type Plant,
  type PlantChange,
  type PlantPatch,
  type StoredPlant,
} from '../../../service/store/plant-store.ts'
import type { ApplyMode, Guard } from '../../../service/store/record-store.ts'
import type { Size } from './group-commit.ts'
import { ROW_TEXT_MAX } from './page-limits.ts'
import { toPlant } from './rows.ts'

/** The parameters of PlantStore.apply. */
export interface ChangeList {
  readonly changes: readonly PlantChange[]
  readonly mode: ApplyMode | Guard
}

export type GuardedList = ChangeList & { readonly mode: Guard }

export function isGuarded(list: ChangeList): list is GuardedList {
  return typeof list.mode === 'object'
}

/** Whether changes had the effect that their guard requires. */
export function hasEffect(
  { effect }: Pick<Guard, 'effect'>,
  results: readonly ChangeResult[],
): boolean {
  if (effect === undefined) return true
  const count = (result: ChangeResult) => results.filter((each) => each === result).length
  return count('created') === effect.created && count('removed') === effect.removed
}

/** What a change does to a plant. */
export interface Decision<Type extends ChangeType = ChangeType> {
  readonly result: ChangeResult<Type>
  /** Undefined if there is no plant after the change. The same object as before if the change has no effect. */
  readonly after: StoredPlant | undefined
}

/**
 * Decides what a change does.
 *
 * @param stored the plant with its id, if there is one
 */
export function decide<Change extends PlantChange>(
  stored: StoredPlant | undefined,
  change: Change,
): Decision<Change['type']> {
  // TypeScript does not relate the type of the change to that of its result.
  return decideAny(stored, change) as Decision<Change['type']>
}

function decideAny(stored: StoredPlant | undefined, change: PlantChange): Decision {
  switch (change.type) {
    case 'create': {
      if (stored === undefined) return { result: 'created', after: change }
      return { result: repeatCreate(stored, change), after: stored }
    }
    case 'put':
      return stored === undefined
        ? { result: 'created', after: change }
        : decideUpdate(stored, putPlant(stored, change))
    case 'replace': {
      const found = match(stored, change.expected)
      if (typeof found === 'string') return { result: found, after: stored }
      return decideUpdate(found, putPlant(found, change))
    }
    case 'update': {
      const found = match(stored, change.expected)
      if (typeof found === 'string') return { result: found, after: stored }
      return decideUpdate(found, patchPlant(found, change.patch))
    }
    case 'remove': {
      const found = match(stored, change.expected)
      if (typeof found !== 'string') return { result: 'removed', after: undefined }
      const isGone = stored === undefined && change.expected === undefined
      return { result: isGone ? 'unchanged' : found, after: stored }
    }
  }
}

function decideUpdate(stored: StoredPlant, after: StoredPlant): Decision {
  return hasSameContent(stored, after)
    ? { result: 'unchanged', after: stored }
    : { result: 'changed', after }
}

/** The plant if it is as expected, or else why it does not match. */
function match(
  stored: StoredPlant | undefined,
  expected: Expectation | undefined,
): StoredPlant | NoMatch {
  if (stored === undefined) return 'plant-not-found'
  return isExpected(stored, expected) ? stored : 'plant-changed'
}

/** Whether a plant has one of the expected versions, or the expected content. */
export function isExpected(stored: StoredPlant, expected: Expectation | undefined): boolean {
  if (expected === undefined) return true
  if ('name' in expected) return hasSameContent(stored, putPlant(stored, expected))
  return expected.includes(contentVersion(stored))
}

/** The result of a create whose id is taken. */
export function repeatCreate(stored: Plant, plant: NewPlant): 'unchanged' | 'plant-exists' {
  const { name, tag } = plant
  const fields = mergeFields(stored.fields, plant)
  return hasSameContent(stored, { name, tag, fields }) ? 'unchanged' : 'plant-exists'
}

/** The plant after its content was replaced, which keeps own fields that are neither set nor cleared. */
function putPlant(stored: Plant, plant: NewPlant): StoredPlant {
  const { id, name, tag } = plant
  const fields = mergeFields(stored.fields, plant)
  return toPlant({ id, name, tag: tag ?? null, fields: fields ?? null })
}

function patchPlant(stored: StoredPlant, patch: PlantPatch): StoredPlant {
  const fields = mergeFields(stored.fields, patch)
  return { id: stored.id, ...toContent({ ...stored, ...patch, fields }) }
}

/** The memory of a string object, in UTF-16 units. An If-Match header can hold thousands of short strings. */
const STRING_OVERHEAD = 16

/** A plant before and after changes: undefined if there is none, and the same object if they have no effect. */
export interface Effect {
  readonly before: StoredPlant | undefined
  readonly after: StoredPlant | undefined
}

/** The text that changes affect, in bytes. */
export function measureEffect({ before, after }: Effect): number {
  const read = before === undefined ? 0 : textBytes(before)
  return after === undefined || after === before ? read : read + textBytes(after)
}

/** The length of a plant's text in UTF-8, in bytes. */
export function textBytes({ name, tag, fields }: Plant): number {
  return Buffer.byteLength(name) + Buffer.byteLength(tag ?? '') + Buffer.byteLength(fields ?? '')
}

/**
 * Whether a change affects a large plant, or makes one.
 *
 * @param bytes of the plant's text before it; undefined if there is no plant
 * @param bytesMax of the text of other plants
 */
export function isLarge(change: PlantChange, bytes = 0, bytesMax = ROW_TEXT_MAX): boolean {
  return bytes + measureText(change) > bytesMax
}

/**
 * From a length on, single changes of plants share a transaction only until it has affected some text, in bytes. Otherwise
 * all others would wait for several of them.
 */
export const LARGE_PLANTS = { bytes: 2 ** 16, affectedMax: LIST_TEXT_MAX / 4 }

/** How much text the changes of a list may affect, in bytes. A single change may affect any. */
export function listTextMax(list: ChangeList): number {
  if (list.changes.length <= 1) return Number.MAX_SAFE_INTEGER
  return isGuarded(list) ? list.mode.textMax : LIST_TEXT_MAX
}

/** The size that a change counts toward the limits on waiting changes. */
export function measureChange(change: PlantChange): Size {
  return { changes: 1, text: measureText(change) }
}

/**
 * A list counts as its number of changes, so that other changes do not wait for many lists. A longer list of an import
 * counts as the longest list of a request. Otherwise, it could exceed the limit on its own. A list with a guard counts
 * as one change, because only one is ever in flight.
 */
export function countListed(list: ChangeList): number {
  return isGuarded(list) ? 1 : Math.min(list.changes.length, limits.changePlants.body.maxItems)
}

/** The size that a list counts toward the limits on waiting changes. */
export function measureList(list: ChangeList): Size {
  let text = 0
  for (const change of list.changes) text += measureText(change)
  return { changes: countListed(list), text }
}

function measureText(change: PlantChange): number {
  switch (change.type) {
    case 'update':
      return textLength(change.patch) + measureExpectation(change.expected)
    case 'remove':
      return measureExpectation(change.expected)
    case 'replace':
      return textLength(change) + measureExpectation(change.expected)
    default:
      return textLength(change)
  }
}

function measureExpectation(expected: Expectation = []): number {
  if ('name' in expected) return textLength(expected)
  return expected.reduce((sum, { length }) => sum + length + STRING_OVERHEAD, 0)
}
