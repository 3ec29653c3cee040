import {
  type FieldFilter as FieldParameter,
  filterName,
  parseFilterName,
} from '../../core/contract/field-parameters.ts'
import { readOwn } from '../../core/members/member-text.ts'
import { type MemberValue, ownValue } from '../../core/members/members.ts'
import { toValueTest } from '../../core/members/value-condition.ts'
import { ownMembers } from '../model/current-members.ts'

/** What own fields must be, by their names. The service refuses text that is not a value. */
export interface FieldFilter {
  readonly [name: string]: FieldLimits | 'absent'
}

interface FieldLimits {
  /** One of these. */
  readonly is?: readonly string[]
  readonly min?: string
  readonly max?: string
}

/** A part of a filter, as a query parameter. */
export interface Condition extends FieldParameter {
  /** Only `is` can have several. `without` has `true`. */
  readonly values: readonly string[]
}

export function conditionsOf(filter: FieldFilter = {}): readonly Condition[] {
  return Object.entries(filter).flatMap(([name, limits]): Condition[] => {
    if (limits === 'absent') return [{ kind: 'without', name, values: ['true'] }]
    const { is, min, max } = limits
    return [
      ...(is ? [{ kind: 'is', name, values: is } as const] : []),
      ...(min === undefined ? [] : [{ kind: 'min', name, values: [min] } as const]),
      ...(max === undefined ? [] : [{ kind: 'max', name, values: [max] } as const]),
    ]
  })
}

/** Adds a condition to those that can be combined with it, or a value to `is`. */
export function addCondition(
  filter: FieldFilter = {},
  { kind, name }: FieldParameter,
  text: string,
): FieldFilter {
  if (kind === 'without') return { ...filter, [name]: 'absent' }
  const before = ownValue(filter, name) as FieldFilter[string] | undefined
  const { is = [], ...limits } = before === 'absent' ? {} : (before ?? {})
  const values = kind === 'is' ? [...new Set([...is, text])] : is
  return {
    ...filter,
    [name]: {
      ...(values.length > 0 && { is: values }),
      ...limits,
      ...(kind !== 'is' && { [kind]: text }),
    },
  }
}

/** @returns undefined if no condition is left */
export function removeCondition(
  filter: FieldFilter | undefined,
  { kind, name }: FieldParameter,
): FieldFilter | undefined {
  const others = conditionsOf(filter).filter((each) => each.kind !== kind || each.name !== name)
  return parseConditions(others.flatMap(toParameters))
}

/** The names and values of the parameters of a condition. */
export function toParameters(condition: Condition): [name: string, value: string][] {
  return condition.values.map((value) => [filterName(condition), value])
}

/** The filter of some parameters. Undefined if none of them is a condition. */
export function parseConditions(
  parameters: Iterable<[name: string, value: string]>,
): FieldFilter | undefined {
  let filter: FieldFilter | undefined
  for (const [parameter, value] of parameters) {
    const condition = parseFilterName(parameter)
    if (condition !== undefined) filter = addCondition(filter, condition, value)
  }
  return filter
}

/** Whether a plant meets all conditions. No plant meets one that the service refuses. */
export function meetsConditions(plant: object, filter: FieldFilter = {}): boolean {
  return Object.entries(filter).every(([name, limits]) => {
    const member = ownMembers.find((each) => each.name === name)
    if (member === undefined) return false
    const value = ownValue(plant, name)
    if (limits === 'absent') return toValueTest(member, { isAbsent: true })(value)
    const { is, min, max } = limits
    const read = (text: string) => readOwn(member, text)
    const written = [...(is ?? []), min, max].filter((text) => text !== undefined)
    if (written.some((text) => read(text) === undefined)) return false
    const condition = {
      is: is?.map(read) as readonly MemberValue[] | undefined,
      min: min === undefined ? undefined : read(min),
      max: max === undefined ? undefined : read(max),
    }
    return toValueTest(member, condition)(value)
  })
}
