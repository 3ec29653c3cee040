import { isUtf8 } from 'node:buffer'
import { JsonReader } from './json-reader.ts'
import { InvalidJson } from './json-scanner.ts'
import type { Shape } from './shape.ts'

/**
 * Reads the JSON text (RFC 8259) of a body without ever changing a number: an integer that a double cannot hold
 * becomes a bigint if it is within int64, and a number that rounding would have made an integer
 * becomes NaN, as does an integer beyond int64.
 *
 * @param shape which parts to read
 * @throws InvalidJson if it is not UTF-8, not JSON, or nested too deeply
 */
export function parseExactJson(bytes: Buffer, shape: Shape = 'all'): unknown {
  if (!isUtf8(bytes)) throw new InvalidJson('body is not UTF-8')
  return new JsonReader(bytes, 'body').read(shape)
}
