import { INT64_MAX, INT64_MIN } from '../../../../core/json/int64.ts'

/** An order of ids, in SQL. */
export interface Direction {
  readonly order: 'ASC' | 'DESC'
  /** Compares an id with the first one. */
  readonly from: '>=' | '<='
  /** Compares an id with the last one. */
  readonly to: '>=' | '<='
  /** Selects the first id and the last one of several. */
  readonly first: 'min' | 'max'
  readonly last: 'min' | 'max'
}

export const ASCENDING: Direction = {
  order: 'ASC',
  from: '>=',
  to: '<=',
  first: 'min',
  last: 'max',
}
const DESCENDING: Direction = { order: 'DESC', from: '<=', to: '>=', first: 'max', last: 'min' }

/** What there is for each direction. */
export interface ByDirection<Value> {
  readonly ascending: Value
  readonly descending: Value
}

export function byDirection<Value>(build: (direction: Direction) => Value): ByDirection<Value> {
  return { ascending: build(ASCENDING), descending: build(DESCENDING) }
}

export function mapDirections<From, To>(
  { ascending, descending }: ByDirection<From>,
  map: (value: From) => To,
): ByDirection<To> {
  return { ascending: map(ascending), descending: map(descending) }
}

export function inDirection<Value>(values: ByDirection<Value>, isDescending = false): Value {
  return isDescending ? values.descending : values.ascending
}

/** The first id that can follow another, or that can be the first. */
export function firstAfter(id: bigint | undefined, isDescending = false): bigint | undefined {
  const [first, last, step] = isDescending
    ? [INT64_MAX, INT64_MIN, -1n]
    : [INT64_MIN, INT64_MAX, 1n]
  if (id === undefined) return first
  return id === last ? undefined : id + step
}
