import { NEWLINE } from '../json/bytes.ts'

/** The encodings that can be read, by the names of the Encoding Standard (https://encoding.spec.whatwg.org/#names). */
export const encodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'macintosh',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
] as const

export type Encoding = (typeof encodings)[number]

/** A part of a file. */
export interface TextPart {
  readonly text: string
  /** Where the part ends in the file, in bytes from its start. A character can follow that is not complete. */
  readonly endByte: number
}

/** Marks text that is not valid in the encoding, which cannot contain a lone surrogate. Python does the same (PEP 383). */
const INVALID = '\ud800'

/** What decoders replace invalid bytes with. */
const REPLACEMENT = '\ufffd'

const BYTE_ORDER_MARK = '\ufeff'

/** The first bytes of text in encodings that begin with a byte order mark. */
const MARKS: readonly (readonly [bytes: readonly number[], encoding: Encoding])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]

/** How much of a file is searched for NUL bytes. */
const NUL_BYTES = 2 ** 12

/**
 * Guesses the encoding of text: by the byte order mark, by the NUL bytes of UTF-16, or by whether it is valid UTF-8. Some
 * invalid bytes in text that has more valid characters of several bytes are mistakes.
 *
 * @param start the start of a file
 */
export function detectEncoding(start: Uint8Array): Encoding {
  const mark = MARKS.find(([bytes]) => bytes.every((byte, index) => start[index] === byte))
  if (mark !== undefined) return mark[1]
  const first = start.subarray(0, NUL_BYTES)
  const nuls = [0, 0]
  first.forEach((byte, index) => {
    if (byte === 0) nuls[index % 2] = (nuls[index % 2] ?? 0) + 1
  })
  const [even = 0, odd = 0] = nuls
  // Letters have a NUL byte in each pair, and line breaks in most scripts.
  if (Math.max(even, odd) > first.length / 8 && Math.min(even, odd) <= first.length / 64) {
    return odd > even ? 'utf-16le' : 'utf-16be'
  }
  const text = new Utf8Decoder().decode(start)
  const invalid = text.split(INVALID).length - 1
  if (invalid === 0) return 'utf-8'
  const others = text.match(/[^\0-\x7f\ud800]/gu)?.length ?? 0
  return others > invalid ? 'utf-8' : 'windows-1252'
}

/**
 * Decodes text as it arrives, without a byte order mark. Lone surrogates replace what is not valid in the encoding, so
 * that only its record is refused.
 */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<TextPart, void> {
  let endByte = 0
  const decoder = encoding === 'utf-8' ? new Utf8Decoder() : new OtherDecoder(encoding)
  for await (const chunk of chunks) {
    endByte += chunk.length
    yield { text: decoder.decode(chunk), endByte }
  }
  yield { text: decoder.end(), endByte }
}

class Utf8Decoder {
  readonly #valid = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  readonly #any = new TextDecoder('utf-8', { ignoreBOM: true })
  /** A character that is not complete. */
  #rest = new Uint8Array(0)
  #isStart = true

  decode(chunk: Uint8Array): string {
    const bytes = concat(this.#rest, chunk)
    const end = endOfCharacters(bytes)
    this.#rest = bytes.slice(end)
    return this.#decode(bytes.subarray(0, end))
  }

  end(): string {
    return this.#decode(this.#rest)
  }

  #decode(bytes: Uint8Array): string {
    const text = this.#tryDecode(bytes) ?? this.#decodeLines(bytes)
    const hasMark = this.#isStart && text.startsWith(BYTE_ORDER_MARK)
    if (text !== '') this.#isStart = false
    return hasMark ? text.slice(BYTE_ORDER_MARK.length) : text
  }

  #tryDecode(bytes: Uint8Array): string | undefined {
    try {
      return this.#valid.decode(bytes)
    } catch {
      return undefined
    }
  }

  /** A replacement character in a valid line is a character of its text. */
  #decodeLines(bytes: Uint8Array): string {
    let text = ''
    for (let start = 0; start < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, start)
      const end = newline === -1 ? bytes.length : newline + 1
      const line = bytes.subarray(start, end)
      text += this.#tryDecode(line) ?? this.#any.decode(line).replaceAll(REPLACEMENT, INVALID)
      start = end
    }
    return text
  }
}

class OtherDecoder {
  readonly #decoder: TextDecoder

  constructor(encoding: Encoding) {
    this.#decoder = new TextDecoder(encoding)
  }

  decode(chunk: Uint8Array): string {
    return this.#decoder.decode(chunk, { stream: true }).replaceAll(REPLACEMENT, INVALID)
  }

  end(): string {
    return this.#decoder.decode().replaceAll(REPLACEMENT, INVALID)
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other
  const bytes = new Uint8Array(one.length + other.length)
  bytes.set(one)
  bytes.set(other, one.length)
  return bytes
}

/** The end of the last character that is complete. */
function endOfCharacters(bytes: Uint8Array): number {
  const { length } = bytes
  for (let start = length - 1; start >= 0 && start >= length - 3; start--) {
    const byte = bytes[start] ?? 0
    if (byte < 0x80) break
    // The first byte of a character, which says how many bytes the character has (RFC 3629).
    if (byte >= 0xc0) {
      const end = start + (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2)
      return end > length ? start : length
    }
  }
  return length
}
