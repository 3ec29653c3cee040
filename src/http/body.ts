import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import type { Operation } from '../contract/contract.ts'
import type { ErrorCode } from '../contract/error-codes.gen.ts'
import { ApiError } from './api-error.ts'
import { type BodyReaderOptions, bodyReader, bodyTooLarge } from './body-reader.ts'

/** The media types that are JSON; which of them an operation takes, the contract says. */
const JSON_TYPES = ['application/json', 'application/merge-patch+json']

/**
 * Reads bodies as the contract describes them: JSON in UTF-8 with exact numbers. Applies to the scope of the
 * contract's routes.
 */
export function readExactJson(scope: FastifyInstance, options: BodyReaderOptions): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(JSON_TYPES, bodyReader(options))
  // The content of a DELETE means nothing (RFC 9110 §9.3.5), as that of a GET.
  scope.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  scope.addHook('preParsing', (request, reply, _body, next) => {
    const { mediaTypes } = request.operation as Operation
    if (mediaTypes.length === 0) return next()
    const refusal = refusalOf(request, mediaTypes, options.limit)
    if (refusal === undefined && awaitsContinue(request)) reply.raw.writeContinue()
    next(refusal)
  })
  // Fastify validates only a body of a listed media type; one without any would slip through.
  scope.addHook('preValidation', (request, _reply, next) => {
    const missing = request.body === undefined && request.operation?.bodyRequired
    next(missing ? new ApiError('invalid-body', 'body is required') : undefined)
  })
}

/**
 * Whether the client waits for 100 before it sends a body (RFC 9110 §10.1.1). HTTP/1.0 does not have that status, so
 * such a client would take it for the response.
 */
function awaitsContinue({ headers, raw }: FastifyRequest): boolean {
  if (headers.expect === undefined || raw.httpVersion === '1.0') return false
  const expectations = headers.expect.toLowerCase().split(',')
  return hasContent(headers) && expectations.some((one) => one.trim() === '100-continue')
}

function hasContent({
  'content-length': length = '0',
  'transfer-encoding': coding,
}: IncomingHttpHeaders): boolean {
  return length !== '0' || coding !== undefined
}

/** What is wrong with how a body is sent, before any of it is read. */
function refusalOf(
  request: FastifyRequest,
  mediaTypes: readonly string[],
  limit: number,
): ApiError | undefined {
  const { 'content-encoding': coding = 'identity', 'content-length': length } = request.headers
  if (coding.toLowerCase() !== 'identity') {
    const message = 'the body must not have a Content-Encoding'
    return unsupported(request, 'unsupported-content-coding', message)
  }
  return (
    typeFailure(request, mediaTypes) ?? (Number(length) > limit ? bodyTooLarge(limit) : undefined)
  )
}

function typeFailure(request: FastifyRequest, mediaTypes: readonly string[]): ApiError | undefined {
  const { 'content-type': type } = request.headers
  // The common case.
  if (type !== undefined && mediaTypes.includes(type)) return undefined
  if (type === undefined && !hasContent(request.headers)) return undefined
  for (const [, charset = ''] of type?.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi) ?? []) {
    if (!/^utf-?8$/i.test(charset)) {
      const message = `the body must be UTF-8, not ${charset}`
      return unsupported(request, 'unsupported-charset', message)
    }
  }
  // Fastify looks at what can be read, not at what the operation takes.
  const { mediaType = '' } = request
  if (mediaTypes.includes(mediaType)) return undefined
  const message = `the Content-Type must be ${mediaTypes.join(' or ')}`
  return unsupported(request, 'unsupported-media-type', message)
}

/** A 415; for PATCH it lists the accepted types (RFC 5789 §2.2). */
function unsupported(
  { method, operation }: FastifyRequest,
  condition: ErrorCode,
  message: string,
): ApiError {
  const { mediaTypes } = operation as Operation
  const headers = method === 'PATCH' ? { 'accept-patch': mediaTypes.join(', ') } : {}
  return new ApiError(condition, message, headers)
}

/** What is wrong with the content of a body, as Ajv found it. */
export function bodyFailure(error: FastifySchemaValidationError): ApiError {
  const { keyword, instancePath, params, message } = error
  // Of several types Ajv makes a list without a space.
  const wanted = keyword === 'type' ? `must be ${[params.type].flat().join(' or ')}` : message
  return new ApiError('invalid-body', `body${instancePath} ${wanted}`)
}
