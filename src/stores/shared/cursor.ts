import { crc32 } from 'node:zlib'

/** A position in the change feed. */
export interface Cursor {
  /** Identifies the feed: 8 random bytes. */
  readonly feedId: Uint8Array
  /** Not negative. */
  readonly position: bigint
  /**
   * The time of the change at the position, in milliseconds since 1970. A restored feed can reuse the position, but not
   * for the same change.
   */
  readonly at: number
  /** The change, if the position is that of a transaction. */
  readonly sequence?: bigint
}

/** The length of `Cursor.feedId` in bytes. */
export const FEED_ID_BYTES = 8

const POSITION_START = FEED_ID_BYTES
const TIME_START = POSITION_START + BigInt64Array.BYTES_PER_ELEMENT
const TIME_BYTES = 6
const SEQUENCE_START = TIME_START + TIME_BYTES
const CHECKSUM_BYTES = Uint32Array.BYTES_PER_ELEMENT

/** The lengths without the checksum. */
const LENGTHS = [SEQUENCE_START, SEQUENCE_START + BigInt64Array.BYTES_PER_ELEMENT] as const

/** Encodes a cursor in base64url, which needs no escaping in URLs, headers and server-sent events. */
export function encodeCursor({ feedId, position, at, sequence }: Cursor): string {
  const length = LENGTHS[sequence === undefined ? 0 : 1]
  const bytes = Buffer.allocUnsafe(length + CHECKSUM_BYTES)
  bytes.set(feedId)
  bytes.writeBigInt64BE(position, POSITION_START)
  bytes.writeUIntBE(at, TIME_START, TIME_BYTES)
  if (sequence !== undefined) bytes.writeBigInt64BE(sequence, SEQUENCE_START)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, length)), length)
  return bytes.toString('base64url')
}

/** Returns undefined for a string that is not a cursor. */
export function decodeCursor(text: string): Cursor | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Node ignores characters that are not base64url.
  if (bytes.toString('base64url') !== text) return undefined
  const length = LENGTHS.find((each) => each + CHECKSUM_BYTES === bytes.length)
  if (length === undefined) return undefined
  if (bytes.readUInt32BE(length) !== crc32(bytes.subarray(0, length))) return undefined
  const hasSequence = length === LENGTHS[1]
  const position = bytes.readBigInt64BE(POSITION_START)
  if (position < 0n) return undefined
  const cursor = {
    feedId: bytes.subarray(0, POSITION_START),
    position,
    at: bytes.readUIntBE(TIME_START, TIME_BYTES),
  }
  return hasSequence ? { ...cursor, sequence: bytes.readBigInt64BE(SEQUENCE_START) } : cursor
}

/** The orders in which the engines list tags. A cursor in one of them would skip tags in the other. */
type TagOrder = 'code-points' | 'md5'

/**
 * Encodes a cursor in a list of tags in base64url. Its checksum distinguishes it from a tag and from a cursor in the
 * other order.
 *
 * @param last the tag, or the hash, after which the rest of the list begins
 */
export function encodeTagCursor(order: TagOrder, last: string): string {
  const checksum = crc32(`${order} ${last}`).toString(16).padStart(8, '0')
  return Buffer.from(checksum + last).toString('base64url')
}

/** Returns undefined for a string that is not a cursor in that order. */
export function decodeTagCursor(order: TagOrder, cursor: string): string | undefined {
  const last = Buffer.from(cursor, 'base64url').toString().slice(8)
  return encodeTagCursor(order, last) === cursor ? last : undefined
}
