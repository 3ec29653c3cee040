import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest, preParsingHookHandler, RouteOptions } from 'fastify'
import type { ContractDocument, Operation } from '../../../contract/contract.ts'
import type { ErrorCode } from '../../../contract/error-codes.gen.ts'
import { ApiError } from '../responses/api-error.ts'
import { bodyTooLarge } from './body-reader.ts'
import { firstParameterError } from './request-validation.ts'

/** The media types that are read as JSON. The contract decides which of them an operation accepts. */
export const JSON_TYPES = ['application/json', 'application/merge-patch+json']

/** The content codings that a body can have (RFC 9110 §12.5.3). */
const IDENTITY_ONLY = { 'accept-encoding': 'identity' }

/** A parameter of a media type (RFC 9110 §5.6.6). A quoted value can contain what looks like a parameter. */
const PARAMETER = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;\s]*)/g

/** The methods for which the contract describes a body, in upper case. */
export function bodyMethods({ paths }: ContractDocument): ReadonlySet<string> {
  const methods = new Set<string>()
  for (const operations of Object.values(paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      if (requestBody !== undefined) methods.add(method.toUpperCase())
    }
  }
  return methods
}

/**
 * An `onRoute` hook that makes operations with a body reject one which its headers rule out, before any of it is read,
 * and send 100 to a client that waits for it.
 *
 * @param bodyLimit in bytes
 */
export function checkBodyHead(bodyLimit: number): (route: RouteOptions) => void {
  const checkHead: preParsingHookHandler = (request, reply, _body, next) => {
    const { mediaTypes } = request.operation as Operation
    const error = bodyHeadError(request, mediaTypes, bodyLimit)
    if (error !== undefined || !awaitsContinue(request)) return next(error)
    // Fastify validates them only once it has the body.
    const invalid = firstParameterError(request)
    if (invalid === undefined) reply.raw.writeContinue()
    next(invalid)
  }
  return (route) => {
    if (route.config?.operation?.mediaTypes.length === 0) return
    route.preParsing = checkHead
    route.preValidation = requireBody
  }
}

/** Fastify validates only bodies of a listed media type, so a request without a body would pass. */
function requireBody(
  { body, operation }: FastifyRequest,
  _reply: FastifyReply,
  next: (error?: Error) => void,
): void {
  const isMissing = body === undefined && operation?.bodyRequired
  next(isMissing ? new ApiError('invalid-body', 'body is required') : undefined)
}

/**
 * Whether the client waits for 100 before it sends a body (RFC 9110 §10.1.1). An HTTP/1.0 client would mistake 100 for
 * the final response.
 */
function awaitsContinue({ headers, raw }: FastifyRequest): boolean {
  if (headers.expect === undefined || raw.httpVersion === '1.0') return false
  const expectations = headers.expect.toLowerCase().split(',')
  return (
    hasContent(headers) && expectations.some((expectation) => expectation.trim() === '100-continue')
  )
}

function hasContent({
  'content-length': length = '0',
  'transfer-encoding': coding,
}: IncomingHttpHeaders): boolean {
  return length !== '0' || coding !== undefined
}

/** Why the headers rule out a body, before any of it is read; undefined if they do not. */
function bodyHeadError(
  request: FastifyRequest,
  mediaTypes: readonly string[],
  bodyLimit: number,
): ApiError | undefined {
  const { 'content-encoding': coding = 'identity', 'content-length': length } = request.headers
  if (coding.toLowerCase() !== 'identity') {
    const message = 'the body must not have a Content-Encoding'
    return unsupported(request, 'unsupported-content-coding', message, IDENTITY_ONLY)
  }
  return (
    typeError(request, mediaTypes) ??
    (Number(length) > bodyLimit ? bodyTooLarge(bodyLimit) : undefined)
  )
}

function typeError(request: FastifyRequest, mediaTypes: readonly string[]): ApiError | undefined {
  const { 'content-type': type } = request.headers
  // The common case.
  if (type !== undefined && mediaTypes.includes(type)) return undefined
  if (type === undefined && !hasContent(request.headers)) return undefined
  for (const [, name = '', value = ''] of type?.matchAll(PARAMETER) ?? []) {
    const charset = value.replace(/^"(.*)"$/, '$1').replace(/\\(.)/g, '$1')
    if (name.toLowerCase() === 'charset' && !/^utf-?8$/i.test(charset)) {
      const message = `the body must be UTF-8, not ${charset}`
      return unsupported(request, 'unsupported-charset', message)
    }
  }
  // Fastify accepts any type that has a parser, even one that the operation does not accept.
  const { mediaType = '' } = request
  if (mediaTypes.includes(mediaType)) return undefined
  const message = `the Content-Type must be ${mediaTypes.join(' or ')}`
  return unsupported(request, 'unsupported-media-type', message)
}

/** A 415; for PATCH it lists the accepted types (RFC 5789 §2.2). */
function unsupported(
  { method, operation }: FastifyRequest,
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): ApiError {
  const { mediaTypes } = operation as Operation
  const acceptPatch = method === 'PATCH' && { 'accept-patch': mediaTypes.join(', ') }
  return new ApiError(code, message, { ...headers, ...acceptPatch })
}
