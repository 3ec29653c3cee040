/** What the contract has for answers, found in them or missed. */
import { type ErrorCode, errorCodes } from '../src/contract/error-codes.gen.ts'
import type { components } from './api.gen.ts'
import { type FailedAnswer, PlantStoreError, UnexpectedAnswerError } from './errors.ts'
import { fromJson } from './json.ts'

type Schemas = components['schemas']

/** What openapi-fetch gives: the text of a success, or what it could read of a failure. */
export interface Answer {
  readonly data?: string
  readonly error?: unknown
  readonly response: Response
}

/** Finds the query for the next page, also among links that a proxy has added (RFC 8288). */
const NEXT = /<[^<>?]*(\?[^<>]*)>\s*;\s*rel="?next"?/

/** How a proxy that compresses the content marks its tag; no such tag matches `If-Match`. */
const WEAK = /^W\//

/** How much of an answer that the contract does not have is told, in characters. */
const EXCERPT = 200

/**
 * The content of a success.
 *
 * @throws PlantStoreError
 * @throws UnexpectedAnswerError
 */
export function contentOf<Content>(
  answer: Answer,
  isContent: (value: unknown) => value is Content,
): Content {
  const content = jsonOf(answer.data)
  if (!isContent(content)) throw failureOf(answer)
  return content
}

/** Undefined, which is no content of the contract, for a failure and for what is not JSON. */
function jsonOf(text = ''): unknown {
  try {
    return fromJson(text)
  } catch {
    return undefined
  }
}

export function isPlant(value: unknown): value is Schemas['Plant'] {
  const { name, tag } = membersOf(value)
  return typeof name === 'string' && (tag === undefined || typeof tag === 'string')
}

export function isStoredPlant(value: unknown): value is Schemas['StoredPlant'] {
  return isPlant(value) && typeof membersOf(value).id === 'bigint'
}

export function areStoredPlants(value: unknown): value is Schemas['StoredPlant'][] {
  return Array.isArray(value) && value.every(isStoredPlant)
}

function isError(value: unknown): value is Schemas['Error'] {
  const { error, message } = membersOf(value)
  return typeof error === 'number' && typeof message === 'string'
}

function membersOf(value: unknown): Record<string, unknown> {
  return Object(value)
}

/** @throws UnexpectedAnswerError if there is no entity tag */
export function entityTagOf(answer: Answer): string {
  const tag = answer.response.headers.get('etag')
  if (tag === null) throw failureOf(answer)
  return tag.replace(WEAK, '')
}

/** The query of the next page, with its `?`; undefined on the last page. */
export function nextQueryOf(answer: Answer): string | undefined {
  return NEXT.exec(answer.response.headers.get('link') ?? '')?.[1]
}

/** The failure that an answer is, or is by not being what it should. */
export function failureOf({ data, error, response }: Answer): FailedAnswer {
  const { status, headers, url } = response
  const seconds = headers.get('retry-after') ?? ''
  const retryAfter = /^\d+$/.test(seconds) ? Number(seconds) : undefined
  const condition = isError(error) && conditionOf(status, error.error)
  if (condition) return new PlantStoreError(condition, error.message, retryAfter)
  const location = headers.get('location')
  const text = data ?? (typeof error === 'string' ? error : JSON.stringify(error))
  const message = [
    `${url} answered ${status}, which is not as the contract has it`,
    ...(location === null ? [] : [`a redirect to ${location}`]),
    ...(text ? [text.slice(0, EXCERPT)] : []),
  ].join(': ')
  return new UnexpectedAnswerError(message, status, retryAfter)
}

function conditionOf(status: number, error: number): ErrorCode | undefined {
  const names = Object.keys(errorCodes) as ErrorCode[]
  return names.find(
    (name) => errorCodes[name].status === status && errorCodes[name].error === error,
  )
}
