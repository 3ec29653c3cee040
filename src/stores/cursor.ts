/** A position in the log of changes. */
export interface Cursor {
  /** Identifies the log: 8 random bytes. */
  readonly log: Uint8Array
  /** Not negative. */
  readonly position: bigint
  /**
   * The time of the change at the position, in milliseconds since 1970. A restored log can reuse the position, but not
   * for the same change.
   */
  readonly at: number
}

/** The length of `Cursor.log` in bytes. */
export const LOG_ID_BYTES = 8

const POSITION_START = LOG_ID_BYTES
const TIME_START = POSITION_START + BigInt64Array.BYTES_PER_ELEMENT
const TIME_BYTES = 6

/** Encodes a cursor in base64url, which needs no escaping in URLs, headers and server-sent events. */
export function encodeCursor({ log, position, at }: Cursor): string {
  const bytes = Buffer.allocUnsafe(TIME_START + TIME_BYTES)
  bytes.set(log)
  bytes.writeBigInt64BE(position, POSITION_START)
  bytes.writeUIntBE(at, TIME_START, TIME_BYTES)
  return bytes.toString('base64url')
}

/** Returns undefined for a string that `encodeCursor` does not return. */
export function decodeCursor(text: string): Cursor | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Node ignores characters that are not base64url.
  if (bytes.length !== TIME_START + TIME_BYTES || bytes.toString('base64url') !== text) {
    return undefined
  }
  const position = bytes.readBigInt64BE(POSITION_START)
  if (position < 0n) return undefined
  return {
    log: bytes.subarray(0, POSITION_START),
    position,
    at: bytes.readUIntBE(TIME_START, TIME_BYTES),
  }
}
