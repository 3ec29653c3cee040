import { isUtf8 } from 'node:buffer'
import { JsonParser } from './json-parser.ts'
import { InvalidJson } from './json-scanner.ts'
import type { Projection } from './projection.ts'

/**
 * Parses a JSON body (RFC 8259) without changing the value of any integer. Integers that a double cannot
 * hold become bigints; a number without an exact value becomes `INEXACT`.
 *
 * @throws InvalidJson if the bytes are not UTF-8, not JSON, or nested too deeply
 */
export function parseExactJson(bytes: Buffer, projection: Projection = 'all'): unknown {
  if (!isUtf8(bytes)) throw new InvalidJson('body is not valid UTF-8')
  return new JsonParser(bytes, 'body').parse(projection)
}
