import { isUtf8 } from 'node:buffer'
import { type InvalidJson, parseExactJson } from '../../contract/exact-json.ts'
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
  const onUnknownMember = (_plant: object, name: string) => {
    if (unknown.length < NAMES_MAX) unknown.push(name)
  }
  let value: unknown
  try {
    value = parseExactJson(json, { what: 'record', onUnknownMember })
  } catch (error) {
    return { result: (error as InvalidJson).message }
  }
  const result = validate(value)
  if (typeof result === 'string' || unknown.length === 0) return { result }
  if (refuseMembers) {
    const members = unknown.length === 1 ? 'member' : 'members'
    return { result: `unknown ${members} ${unknown.map(describeUnknown).join(', ')}` }
  }
  return { result, ignored: unknown }
}
