import { isUtf8 } from 'node:buffer'
import { JsonParser } from '../../contract/json-parser.ts'
import type { InvalidJson } from '../../contract/json-scanner.ts'
import { NOT_UTF8, type ParsedResult, type ReaderOptions } from './record-reader.ts'
import type { RecordValidator } from './record-validator.ts'
import { describeUnknown, NAMES_MAX } from './unknown-fields.ts'

/** Parses the JSON of one plant. */
export function parseJsonRecord(
  json: Buffer,
  validate: RecordValidator,
  { refuseMembers = false }: ReaderOptions,
): ParsedResult {
  if (!isUtf8(json)) return { result: NOT_UTF8 }
  const unknown: string[] = []
  const onUnknownMember = (name: () => string) => {
    if (unknown.length < NAMES_MAX) unknown.push(name())
  }
  let value: unknown
  try {
    value = new JsonParser(json, 'record', onUnknownMember).parse(validate.projection)
  } catch (error) {
    return { result: (error as InvalidJson).message }
  }
  const result = validate(value)
  if (typeof result === 'string' || unknown.length === 0) return { result }
  if (refuseMembers) {
    const properties = unknown.length === 1 ? 'property' : 'properties'
    return { result: `unknown ${properties} ${unknown.map(describeUnknown).join(', ')}` }
  }
  return { result, ignored: unknown }
}
