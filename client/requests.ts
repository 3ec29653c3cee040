/** The requests of the contract. Those that it does not describe do not compile. */
import type { paths } from '../core/generated/api.gen.ts'
import { propertiesOf } from '../core/known.ts'
import { toJson } from './json.ts'

/** A request to any service. */
export interface ApiRequest {
  readonly method: string
  /** The path and the query, which follow the base URL. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  /** Null if there is none. */
  readonly body: string | null
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** What the contract says of an operation, as openapi-typescript expresses it. */
interface OperationType {
  readonly parameters: { readonly query?: unknown; readonly header?: unknown }
  readonly requestBody?: { readonly content: object }
}

/** What an operation takes. */
type Input<Operation> = Operation extends OperationType
  ? Omit<Operation['parameters'], 'query' | 'cookie'> & {
      /** A string is the query of a link from the service, and is sent unchanged. */
      readonly query?: Operation['parameters']['query'] | string
    } & (Operation extends { readonly requestBody: { readonly content: infer Content } }
        ? Body<Content>
        : unknown)
  : never

type Body<Content> = {
  /** @default 'application/json' */
  readonly contentType?: keyof Content
} & (
  | { readonly body: Content[keyof Content] }
  /** The body, if it is already JSON. */
  | { readonly json: string }
)

/** What `buildRequest` reads of the input of any operation. */
interface AnyInput {
  readonly path?: object
  readonly query?: object | string
  readonly header?: Readonly<Record<string, string>>
  readonly contentType?: string
  readonly body?: unknown
  readonly json?: string
}

/**
 * Builds the request of an operation.
 *
 * @throws RangeError for NaN and infinities, and URIError for a lone surrogate in the query
 */
export function buildRequest<Path extends keyof paths, Verb extends Method>(
  method: Verb,
  path: Path,
  input: Input<paths[Path][Verb]>,
): ApiRequest {
  const { path: values, query, header, contentType = 'application/json', ...rest }: AnyInput = input
  const body = rest.json ?? (rest.body === undefined ? null : toJson(rest.body))
  return {
    // Fetch does not do it for PATCH.
    method: method.toUpperCase(),
    target: fillIn(path, propertiesOf(values)) + toSearch(query),
    headers: { ...header, ...(body !== null && { 'Content-Type': contentType }) },
    body,
  }
}

function fillIn(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values[name])))
}

/** An array is repeated for each item. Parameters that are undefined or null are omitted. */
function toSearch(query: object | string = {}): string {
  if (typeof query === 'string') return query
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${encodeURIComponent(name)}=${encodeURIComponent(each)}`),
  )
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`
}

/**
 * The parameters of a change.
 *
 * @throws TypeError if the id is not a bigint
 */
export function changeParameters(
  id: bigint,
  { ifMatch }: { readonly ifMatch?: string | undefined } = {},
) {
  return { path: pathParameters(id), header: ifMatch === undefined ? {} : { 'If-Match': ifMatch } }
}

/** @throws TypeError if the id is not a bigint */
export function pathParameters(id: bigint): { id: bigint } {
  checkId(id)
  return { id }
}

/**
 * A JavaScript caller could pass a number, which may already be rounded.
 *
 * @throws TypeError if the id is not a bigint
 */
export function checkId(id: unknown): void {
  if (typeof id === 'bigint') return
  throw new TypeError(
    `invalid id: expected a bigint such as 4n, not the ${typeof id} ${String(id)}`,
  )
}
