const ID_MIN = -(2n ** 63n)
const ID_MAX = 2n ** 63n - 1n

/** Parses an id as a person types it. Undefined if it is not an int64. */
export function parseId(text: string): bigint | undefined {
  const digits = text.trim().replace(/^\u2212/, '-')
  if (!/^[-+]?\d{1,19}$/.test(digits)) return undefined
  const id = BigInt(digits.replace('+', ''))
  return id >= ID_MIN && id <= ID_MAX ? id : undefined
}

/** The position before an id, as `listPlants` expects it. Undefined if there is none. */
export function positionBefore(id: bigint): bigint | undefined {
  return id === ID_MIN ? undefined : id - 1n
}
