import { type AcquireSlot, SHORT_READ } from '../../../service/short-read.ts'

/** How much a read may return. */
export type ReadLimit = typeof SHORT_READ

export const UNLIMITED: ReadLimit = { rows: Number.MAX_SAFE_INTEGER, text: Number.MAX_SAFE_INTEGER }

/** The result of a read that finds more than it may return. */
export const TOO_LONG = Symbol('too long')

/**
 * Attempts a short read. If that finds too much, waits for a slot and reads again without a limit. Without `acquireSlot`,
 * always does the latter.
 */
export async function readLimited<Result>(
  acquireSlot: AcquireSlot | undefined,
  read: (max: ReadLimit) => Promise<Result | typeof TOO_LONG>,
): Promise<Result> {
  if (acquireSlot !== undefined) {
    const result = await read(SHORT_READ)
    if (result !== TOO_LONG) return result
    await acquireSlot()
  }
  return (await read(UNLIMITED)) as Result
}
