/** Reads responses, and detects those that violate the contract. */
import type { components } from '../core/generated/api.gen.ts'
import { type ErrorCode, errorCodes } from '../core/generated/error-codes.gen.ts'
import { propertiesOf } from '../core/known.ts'
import { members } from '../core/members/members.gen.ts'
import { isValueOf, type Member } from '../core/members/members.ts'
import { entityTag, withoutCoding } from '../core/members/plant-version.ts'
import { type PlantStoreError, ServiceError, UnexpectedResponseError } from './errors.ts'
import { parseJson } from './json.ts'
import type { Change, Plant, StoredPlant } from './plants.ts'

type Schemas = components['schemas']

/** A complete response. `int64Fields` is the client's option. */
export interface ApiResponse {
  readonly response: Response
  /** Its body. */
  readonly text: string
  readonly int64Fields: readonly string[]
}

/** Finds the query of the next page, even among links that a proxy has added (RFC 8288). */
const NEXT = /<[^<>?]*(\?[^<>]*)>\s*;\s*rel="?next"?/

/** An integer of structured fields with an optional parameter (RFC 9651). */
const COUNT = /^(\d+)(; *at-least)?$/

/** An entity tag (RFC 9110 §8.8.3). A proxy that compresses a response can make it weak. */
const ENTITY_TAG = /^(?:W\/)?"(.*)"$/

/** What a plant has apart from its id. */
const contentMembers = members.filter(({ name }) => name !== 'id')

/** The header with which the service identifies a request. */
export const REQUEST_ID = 'x-request-id'

/** How many characters of an unexpected response an error message quotes. */
const EXCERPT_LENGTH = 200

/**
 * The parsed content of a success.
 *
 * @throws ServiceError if the response is an error of the contract
 * @throws UnexpectedResponseError if the response violates the contract
 */
export function readContent<Content>(
  result: ApiResponse,
  isContent: (value: unknown) => value is Content,
  int64Fields: readonly string[] = [],
): Content {
  const content = parseContent(result.text, int64Fields)
  if (!result.response.ok || !isContent(content)) throw toError(result)
  return content
}

/** The same for content with plants, which can have own fields. The numbers of other content have names of their own. */
export function readPlants<Content>(
  result: ApiResponse,
  isContent: (value: unknown) => value is Content,
): Content {
  return readContent(result, isContent, result.int64Fields)
}

/** Returns undefined, which is never valid content, for invalid JSON. */
function parseContent(text: string, int64Fields: readonly string[]): unknown {
  try {
    return parseJson(text, int64Fields)
  } catch {
    return undefined
  }
}

/** Whether a value has the properties of the contract's `Plant`. Its own fields are not checked. */
export function isPlant<P extends Plant>(value: unknown): value is P {
  return hasMembers(value, contentMembers)
}

export function isStoredPlant<P extends Plant>(value: unknown): value is StoredPlant<P> {
  return hasMembers(value, members)
}

function hasMembers(value: unknown, members: readonly Member[]): boolean {
  const record = propertiesOf(value)
  return members.every((member) => {
    const { [member.name]: found } = record
    return found === undefined ? !member.isRequired : isValueOf(member, found)
  })
}

export function areStoredPlants<P extends Plant>(value: unknown): value is StoredPlant<P>[] {
  return Array.isArray(value) && value.every(isStoredPlant)
}

export function areStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

export function isAccessToken(value: unknown): value is Schemas['AccessToken'] {
  const { name, scopes, expiresAt, readOnlyReason } = propertiesOf(value)
  const optional = [expiresAt, readOnlyReason].filter((each) => each !== undefined)
  return areStrings([name, ...optional]) && areStrings(scopes)
}

export function areChanges<P extends Plant>(value: unknown): value is Change<P>[] {
  return Array.isArray(value) && value.every(isChange)
}

function isChange(value: unknown): boolean {
  const { cursor, at, type, id, plant } = propertiesOf(value)
  const isComplete = type === 'removed' ? plant === undefined : isPlant(plant)
  const areStrings = [cursor, at, type].every((member) => typeof member === 'string')
  return isComplete && areStrings && typeof id === 'bigint'
}

export function isBatchResult(value: unknown): value is Schemas['BatchResult'] {
  const { created, replayed } = propertiesOf(value)
  return typeof created === 'number' && typeof replayed === 'number'
}

export function isChangeCounts(value: unknown): value is Schemas['ChangeCounts'] {
  const { created, changed, removed, unchanged } = propertiesOf(value)
  return [created, changed, removed, unchanged].every((count) => typeof count === 'number')
}

function isError(value: unknown): value is Schemas['Error'] {
  const { error, message } = propertiesOf(value)
  return typeof error === 'number' && typeof message === 'string'
}

/**
 * The entity tag of a response as the service sent it, because one that a proxy has changed does not match `If-Match`.
 *
 * @throws UnexpectedResponseError if there is none
 */
export function readEntityTag(result: ApiResponse): string {
  const version = ENTITY_TAG.exec(result.response.headers.get('etag') ?? '')?.[1]
  if (version === undefined) throw toError(result)
  return entityTag(withoutCoding(version))
}

/** The query of the next page, with its `?`. Undefined on the last page. */
export function readNextQuery(result: ApiResponse): string | undefined {
  return NEXT.exec(result.response.headers.get('link') ?? '')?.[1]
}

/** How many plants match on all pages. Undefined if they were not counted. */
export function readPlantCount({ response }: ApiResponse) {
  const [, plants, atLeast] = COUNT.exec(response.headers.get('plant-count') ?? '') ?? []
  return plants === undefined
    ? undefined
    : { plants: Number(plants), isExact: atLeast === undefined }
}

/** The error for a response that is a failure or violates the contract. */
export function toError({ response, text }: ApiResponse): PlantStoreError {
  const { status, headers, url } = response
  const seconds = headers.get('retry-after') ?? ''
  const retryAfter = /^\d+$/.test(seconds) ? Number(seconds) : undefined
  const details = { requestId: headers.get(REQUEST_ID), retryAfter }
  const error = parseContent(text, [])
  const condition = isError(error) && findErrorCode(status, error.error)
  if (condition) return new ServiceError(condition, error.message, details)
  const location = headers.get('location')
  const message = [
    `unexpected response from ${url}: status ${status}`,
    ...(location === null ? [] : [`redirect to ${location}`]),
    ...(text ? [text.slice(0, EXCERPT_LENGTH)] : []),
  ].join(': ')
  return new UnexpectedResponseError(message, status, details)
}

function findErrorCode(status: number, error: number): ErrorCode | undefined {
  return Object.keys(errorCodes)
    .filter(isErrorCode)
    .find((name) => errorCodes[name].status === status && errorCodes[name].error === error)
}

function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(errorCodes, name)
}
