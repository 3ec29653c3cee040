import { INT64_MAX, INT64_MIN } from '../../core/json/int64.ts'

/** Parses an id as a person types it. Undefined if it is not an int64. */
export function parseId(text: string): bigint | undefined {
  const digits = text.trim().replace(/^\u2212/, '-')
  if (!/^[-+]?\d{1,19}$/.test(digits)) return undefined
  const id = BigInt(digits.replace('+', ''))
  return id >= INT64_MIN && id <= INT64_MAX ? id : undefined
}

/** The position before an id, as `listPlants` expects it. Undefined if there is none. */
export function idBefore(id: bigint): bigint | undefined {
  return id === INT64_MIN ? undefined : id - 1n
}
