import type { PlantQuery, StoredPlant } from '../../client/client.ts'
import { isComparable } from '../../core/members/comparable.ts'
import { ownValue } from '../../core/members/members.ts'
import { sortKeyOf } from '../../core/members/sort-key.ts'
import { members } from '../model/current-members.ts'

/** Where a plant is, or was, in an order. */
export interface Place {
  readonly id: bigint
  /** Bytes as characters. Empty without a value, and in an order by id. */
  readonly key: string
}

/** An order in which the service lists plants. */
export class PlantOrder {
  /** The parameter of the service. Undefined for ascending ids. */
  readonly sort: string | undefined
  readonly isDescending: boolean
  /** Whether places are known from ids alone. */
  readonly isById: boolean
  readonly #name: string
  readonly #keys = new WeakMap<StoredPlant, string>()

  constructor(sort?: string) {
    this.sort = sort
    this.isDescending = sort?.startsWith('-') === true
    this.#name = (this.isDescending ? sort?.slice(1) : sort) ?? 'id'
    this.isById = this.#name === 'id'
  }

  placeOf(plant: StoredPlant): Place {
    if (this.isById) return { id: plant.id, key: '' }
    // It takes long to compute, and is compared often.
    const key = this.#keys.get(plant) ?? this.#keyOf(plant)
    this.#keys.set(plant, key)
    return { id: plant.id, key }
  }

  #keyOf(plant: StoredPlant): string {
    const member = members.find(({ name }) => name === this.#name)
    const value = ownValue(plant, this.#name)
    return member && isComparable(member, value) ? toBytes(sortKeyOf(member, value)) : ''
  }

  /** Less than zero if the first place precedes the other one. */
  compare(one: Place, other: Place): number {
    const [hasValue, otherHasValue] = [one.key !== '', other.key !== '']
    if (hasValue !== otherHasValue) return hasValue ? -1 : 1
    const order = compare(one.key, other.key) || compare(one.id, other.id)
    return this.isDescending ? -order : order
  }

  /** The parameters for the plants that follow a place, or all of them. */
  query(
    after: Place | undefined,
  ): Pick<PlantQuery, 'sort' | 'after'> & { readonly afterKey?: string } {
    return {
      // Which orders there are depends on the service.
      ...(this.sort !== undefined && { sort: this.sort as 'id' }),
      ...(after && { after: after.id }),
      ...(after && !this.isById && { afterKey: toBase64Url(after.key) }),
    }
  }
}

/** The order that a click on a column's header selects: ascending, then descending, then by id. */
export function nextSort(sort: string | undefined, name: string): string | undefined {
  const current = sort ?? 'id'
  if (current === name) return `-${name}`
  return current === `-${name}` || name === 'id' ? undefined : name
}

function compare<Value extends string | bigint>(one: Value, other: Value): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** The bytes of a key as characters, which JavaScript compares fast. */
function toBytes(key: string | bigint): string {
  if (typeof key === 'string') return String.fromCharCode(...new TextEncoder().encode(key))
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, key)
  return String.fromCharCode(...new Uint8Array(view.buffer))
}

function toBase64Url(bytes: string): string {
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
