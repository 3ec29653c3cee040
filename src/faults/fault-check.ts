import type { Schema } from '../../core/contract/contract.ts'
import type { OperationId } from '../../core/contract/operation-types.ts'
import { bodyCompiler, type Validator } from '../../core/contract/validators.ts'
import { type ErrorCode, errorCodes } from '../../core/generated/error-codes.gen.ts'
import { InvalidJson } from '../../core/json/exact-json.ts'
import { exactNumber } from '../../core/json/int64.ts'
import { known } from '../../core/known.ts'
import { listAlternatives } from '../../core/members/value-rules.ts'
import { ConfigError } from '../config/config.ts'
import { describeViolation } from '../http/request/parameters.ts'
import { messageOf } from '../system/user-errors.ts'
import type { DocumentedErrors } from './documented-errors.ts'
import type { Fault } from './fault.ts'

/** Faults violate their schema, contradict themselves, or ask for what the contract does not document. */
export class InvalidFaults extends ConfigError {}

const FAULTS_MAX = 100

const COUNT_MAX = 1_000_000
const SEED_MAX = 2 ** 31 - 1
const RETRY_AFTER_MAX = 3600
const DELAY_MS_MAX = 600_000

const TEXT = { type: 'string', minLength: 1, maxLength: 256 }

function integer(minimum: number, maximum: number) {
  return { type: 'integer', format: 'int32', minimum, maximum }
}

/** The JSON Schema of a fault; compiles only if it has exactly the properties of the type. */
const PROPERTIES: { readonly [Name in keyof Required<Fault>]: Schema } = {
  name: TEXT,
  operation: { type: 'string' },
  token: TEXT,
  id: { type: 'integer', format: 'int64' },
  nth: integer(1, COUNT_MAX),
  every: integer(1, COUNT_MAX),
  first: integer(1, COUNT_MAX),
  probability: { type: 'number', minimum: 0, maximum: 1 },
  seed: integer(0, SEED_MAX),
  error: { type: 'string' },
  retryAfter: integer(1, RETRY_AFTER_MAX),
  delayMs: integer(1, DELAY_MS_MAX),
  delay: { enum: ['before-work', 'before-response'] },
  cut: { enum: ['before-work', 'before-response', 'in-body', 'in-character', 'after-events'] },
  events: integer(1, COUNT_MAX),
  reset: { type: 'boolean' },
  dripMs: integer(1, DELAY_MS_MAX),
  body: { enum: ['html'] },
}

const SCHEMA = {
  type: 'array',
  maxItems: FAULTS_MAX,
  items: { type: 'object', properties: PROPERTIES, unevaluatedProperties: false },
}

/** Compiled for the first faults. */
let validator: Validator | undefined

type Name = keyof Fault

const EXCLUSIVE: readonly (readonly Name[])[] = [
  ['nth', 'every', 'first', 'probability'],
  ['error', 'cut'],
  ['dripMs', 'cut'],
  ['body', 'cut'],
]

const EFFECTS: readonly Name[] = ['error', 'delayMs', 'dripMs', 'body', 'cut']

const REQUIRED: readonly (readonly [name: Name, needed: Name])[] = [
  ['seed', 'probability'],
  ['delay', 'delayMs'],
  ['retryAfter', 'error'],
  ['reset', 'cut'],
]

const FOLLOWABLE: OperationId = 'listChanges'
const WITHOUT_BODY: OperationId = 'deletePlant'

/**
 * Parses faults, with exact ids, and checks them.
 *
 * @throws InvalidJson, or InvalidFaults that names the first problem
 */
export function parseFaults(json: string, errors: DocumentedErrors): readonly Fault[] {
  return checkFaults(parseExact(json), errors)
}

function parseExact(json: string): unknown {
  if (json.startsWith('\uFEFF')) {
    throw new InvalidJson('faults are not valid JSON: remove the byte order mark at their start')
  }
  try {
    return JSON.parse(json, (_name, value, context?: { source?: string }) =>
      typeof value === 'number' ? exactNumber(String(context?.source)) : value,
    )
  } catch (error) {
    throw new InvalidJson(`faults are not valid JSON: ${messageOf(error)}`)
  }
}

/**
 * Checks faults.
 *
 * @param faults is modified: its ids become bigints
 * @throws InvalidFaults that names the first problem
 */
export function checkFaults(faults: unknown, errors: DocumentedErrors): readonly Fault[] {
  validator ??= bodyCompiler()(SCHEMA)
  if (!validator(faults)) {
    throw new InvalidFaults(describeViolation('faults', known(validator.errors?.[0])))
  }
  const checked = faults as readonly Fault[]
  for (const [index, fault] of checked.entries()) {
    const problem = findContradiction(fault) ?? findUndocumented(fault, errors)
    if (problem !== undefined) throw new InvalidFaults(`faults/${index}${problem}`)
  }
  return checked
}

function findContradiction(fault: Fault): string | undefined {
  const has = (name: Name) => fault[name] !== undefined
  for (const names of EXCLUSIVE) {
    const [one, other] = names.filter(has)
    if (other !== undefined) return ` must not have both ${one} and ${other}`
  }
  for (const [name, needed] of REQUIRED) {
    if (has(name) && !has(needed)) return `/${name} requires ${needed}`
  }
  const { operation, error, delay, cut } = fault
  if (!EFFECTS.some(has)) return ` must have ${listAlternatives(EFFECTS)}`
  if (delay === 'before-response' && (has('error') || cut === 'before-work')) {
    return `/delay must be before-work, because ${error ?? 'the cut'} precedes the work`
  }
  if (has('events') && cut !== 'after-events') return ' must have cut: after-events to have events'
  if (cut === 'after-events' && !has('events')) return ' must have events if cut is after-events'
  if (cut === 'after-events' && operation !== FOLLOWABLE) {
    return `/cut can be after-events only if operation is ${FOLLOWABLE}`
  }
  const needsBody = has('dripMs') || has('body') || cut === 'in-body' || cut === 'in-character'
  return needsBody && operation === WITHOUT_BODY && !has('error')
    ? ` must not affect the body, because a response to ${WITHOUT_BODY} has none`
    : undefined
}

function findUndocumented(
  { operation, error, retryAfter }: Fault,
  errors: DocumentedErrors,
): string | undefined {
  if (operation !== undefined && !errors.has(operation)) {
    return `/operation must be ${listAlternatives([...errors.keys()])}`
  }
  if (error === undefined) return undefined
  const codes = codesOf(operation, errors)
  if (!codes.includes(error)) {
    const whose = operation === undefined ? 'without an operation' : `for ${operation}`
    return `/error must be ${listAlternatives(codes)} ${whose}`
  }
  const hasRetryAfter = [429, 503].includes(errorCodes[error].status)
  return retryAfter !== undefined && !hasRetryAfter
    ? `/retryAfter requires an error with the status 429 or 503`
    : undefined
}

/** The error codes that an operation documents, or that all of them do. */
function codesOf(operation: string | undefined, errors: DocumentedErrors): ErrorCode[] {
  const concerned = operation === undefined ? [...errors.values()] : [known(errors.get(operation))]
  return [...known(concerned[0]).keys()].filter((code) => concerned.every((each) => each.has(code)))
}
