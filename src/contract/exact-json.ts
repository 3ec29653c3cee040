import { isUtf8 } from 'node:buffer'
import { integerOf, parseInt64 } from './decimal.ts'

/** Deep enough for any plant; far from where a recursive reader would run out of stack. */
const MAX_DEPTH = 64

/**
 * A double holds up to 15 digits exactly; with more of them, or with an exponent, what `JSON.parse`
 * makes of a number may be another one. Matches in text too, which costs time and nothing else.
 */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/

/** `"text": "text"`, without escapes: in a JSON text both strings end where this says. */
const TEXT = String.raw`"[^"\\]*"\s*:\s*"[^"\\]*"`

/** An object of texts and one long integer, which it takes out: what most bodies with such an id are. */
const TEXTS_AND_AN_INTEGER = new RegExp(
  String.raw`^\s*\{(?:\s*${TEXT}\s*,)*\s*"([^"\\]*)"\s*:\s*(-?\d{16,19})\s*(?:,\s*${TEXT}\s*)*\}\s*$`,
)

/** The text is not what RFC 8259 calls JSON, or nested deeper than we read. */
export class InvalidJson extends Error {}

/**
 * Reads a JSON text (RFC 8259) without ever changing a number: an integer that a double cannot hold
 * becomes a bigint if it is within int64, and a number that rounding would have made an integer
 * becomes NaN, as does an integer beyond int64.
 *
 * @param what names the text in the messages
 * @throws InvalidJson if it is not UTF-8, not JSON, or nested too deeply
 */
export function parseExactJson(bytes: Buffer, what = 'body'): unknown {
  if (!isUtf8(bytes)) throw new InvalidJson(`${what} is not UTF-8`)
  const text = bytes.toString()
  // What is opened has to be closed, so shorter text is either less deep or not JSON.
  if (text.length > 2 * MAX_DEPTH && depthOf(text) > MAX_DEPTH) {
    throw new InvalidJson(`${what} is nested deeper than ${MAX_DEPTH} levels`)
  }
  try {
    if (!MAY_BE_INEXACT.test(text)) return JSON.parse(text)
    const usual = TEXTS_AND_AN_INTEGER.exec(text)
    return usual ? parseUsual(usual) : JSON.parse(text, exactly)
  } catch (error) {
    throw new InvalidJson(`${what} is not JSON: ${(error as SyntaxError).message}`)
  }
}

/** Gives what the reviver would, in less than half the time. */
function parseUsual([text, name = '', digits = '']: RegExpExecArray): unknown {
  const object = JSON.parse(text)
  const value = object[name]
  // It is a text if the name comes again.
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    object[name] = parseInt64(digits) ?? Number.NaN
  }
  return object
}

/** A reviver that reads numbers from their source text, which TypeScript does not know of yet. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  // V8 loses the source where it misreads a name with a backslash (nodejs/node#63785), which none of
  // the contract's has.
  if (typeof value !== 'number' || context?.source === undefined) return value
  const integer = integerOf(context.source)
  if (integer === undefined) return Number.isInteger(value) ? Number.NaN : value
  return Number.isSafeInteger(value) ? value : integer
}

/** How deep arrays and objects are nested in a JSON text; of other text, some number. */
function depthOf(text: string): number {
  let deepest = 0
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') {
      inString = true
    } else if (character === '{' || character === '[') {
      deepest = Math.max(deepest, ++depth)
    } else if (character === '}' || character === ']') {
      depth--
    }
  }
  return deepest
}
