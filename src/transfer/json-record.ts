import { isUtf8 } from 'node:buffer'
import { type InvalidJson, parseExactJson } from '../../contract/exact-json.ts'
import { NOT_UTF8, type ParsedResult, type ReaderOptions } from './record-reader.ts'
import type { RecordValidator } from './record-validator.ts'
import { describeUnknown, FIELDS, NAMES_MAX } from './unknown-fields.ts'

/** Parses the JSON of one plant. */
export function parseJsonRecord(
  json: Buffer,
  validate: RecordValidator,
  { refuseMembers = false }: ReaderOptions,
): ParsedResult {
  if (!isUtf8(json)) return { result: NOT_UTF8 }
  let value: unknown
  try {
    value = parseExactJson(json, { what: 'record', keepNames: true })
  } catch (error) {
    return { result: (error as InvalidJson).message }
  }
  const result = validate(value)
  if (typeof result === 'string') return { result }
  const names = new Set(Object.keys(value as object)).difference(new Set(FIELDS))
  const unknown = [...names].slice(0, NAMES_MAX)
  if (unknown.length === 0) return { result }
  if (refuseMembers) {
    const properties = unknown.length === 1 ? 'property' : 'properties'
    return { result: `unknown ${properties} ${unknown.map(describeUnknown).join(', ')}` }
  }
  return { result, ignored: unknown }
}
