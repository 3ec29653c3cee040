import { isComparable, toComparable } from './comparable.ts'
import type { Member, MemberValue } from './members.ts'

/** What the value of a member must be. */
export interface ValueCondition {
  /** One of these. */
  readonly is?: readonly MemberValue[] | undefined
  /** The least value of a number or date, inclusive. */
  readonly min?: MemberValue | undefined
  /** The greatest value of a number or date, inclusive. */
  readonly max?: MemberValue | undefined
  readonly isAbsent?: true | undefined
}

/** A function that tells whether a value meets a condition. A value that the member cannot have counts as none. */
export function toValueTest(
  member: Member,
  { is, min, max, isAbsent }: ValueCondition,
): (value: unknown) => boolean {
  const comparable = (value: MemberValue) => toComparable(member, value)
  const allowed = is && new Set(is.map(comparable))
  const least = min === undefined ? undefined : comparable(min)
  const greatest = max === undefined ? undefined : comparable(max)
  return (value) => {
    if (!isComparable(member, value)) return isAbsent === true
    const found = comparable(value)
    return (
      !isAbsent &&
      (allowed === undefined || allowed.has(found)) &&
      (least === undefined || found >= least) &&
      (greatest === undefined || found <= greatest)
    )
  }
}
