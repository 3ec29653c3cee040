import { isUtf8 } from 'node:buffer'
import { NEWLINE } from '../../core/json/bytes.ts'

/** Marks text that is not valid UTF-8, which cannot contain a lone surrogate. Python does the same (PEP 383). */
const INVALID = '\ud800'

/** What `Buffer.toString` replaces invalid bytes with. */
const REPLACEMENT = '\ufffd'

const BYTE_ORDER_MARK = '\ufeff'

/** A part of a file. */
export interface TextPart {
  readonly text: string
  /** Where the part ends in the file, in bytes from its start. A character can follow that is not complete. */
  readonly endByte: number
}

/**
 * Decodes UTF-8 as it arrives, without a byte order mark. In a line that is not valid, lone surrogates replace the
 * invalid bytes, so that only its record is refused.
 */
export async function* decodeUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<TextPart, void> {
  let endByte = 0
  let rest: Buffer = Buffer.alloc(0)
  let isStart = true
  const decode = (bytes: Buffer): string => {
    const text = isUtf8(bytes) ? bytes.toString() : decodeLines(bytes)
    const hasMark = isStart && text.startsWith(BYTE_ORDER_MARK)
    if (text !== '') isStart = false
    return hasMark ? text.slice(BYTE_ORDER_MARK.length) : text
  }
  for await (const chunk of chunks) {
    endByte += chunk.length
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = endOfCharacters(bytes)
    rest = bytes.subarray(end)
    yield { text: decode(bytes.subarray(0, end)), endByte }
  }
  yield { text: decode(rest), endByte }
}

/** The end of the last character that is complete. */
function endOfCharacters(bytes: Buffer): number {
  const { length } = bytes
  for (let start = length - 1; start >= 0 && start >= length - 3; start--) {
    const byte = bytes.readUInt8(start)
    if (byte < 0x80) break
    // The first byte of a character, which says how many bytes the character has (RFC 3629).
    if (byte >= 0xc0) {
      const end = start + (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2)
      return end > length ? start : length
    }
  }
  return length
}

function decodeLines(bytes: Buffer): string {
  let text = ''
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline === -1 ? bytes.length : newline + 1
    const line = bytes.subarray(start, end)
    text += isUtf8(line) ? line.toString() : line.toString().replaceAll(REPLACEMENT, INVALID)
    start = end
  }
  return text
}
