import type { FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import type { Operation } from '../contract/contract.ts'
import { parseExactJson } from '../contract/exact-json.ts'
import type { Shape } from '../contract/shape.ts'
import { Failure } from './failure.ts'

/** The media types that are JSON; which of them an operation takes, the contract says. */
const JSON_TYPES = ['application/json', 'application/merge-patch+json']

/**
 * Reads bodies as the contract has them: JSON, in UTF-8, as it is. In the scope of the contract's
 * routes.
 *
 * @param shape what the operations read of their bodies
 */
export function readExactJson(scope: FastifyInstance, shape: Shape): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, parseExactJson(body, shape))
    } catch (error) {
      done(error as Error)
    }
  })
  // The content of a DELETE means nothing (RFC 9110 §9.3.5), as that of a GET.
  scope.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  scope.addHook('preParsing', (request, reply, _body, next) => {
    const { mediaTypes } = request.operation as Operation
    if (mediaTypes.length === 0) return next()
    const refusal = refusalOf(request, mediaTypes)
    // The client waits for a word before it sends the body (RFC 9110 §10.1.1); whoever was refused
    // before never sends it.
    const waits = request.headers.expect?.toLowerCase() === '100-continue'
    if (waits && refusal === undefined) reply.raw.writeContinue()
    next(refusal)
  })
  // Fastify validates only a body of a listed media type; one without any would slip through.
  scope.addHook('preValidation', (request, _reply, next) => {
    const missing = request.body === undefined && request.operation?.bodyRequired
    next(missing ? new Failure('invalid-body', 'body is required') : undefined)
  })
}

/** What is wrong with how a body is sent, before any of it is read. */
function refusalOf(request: FastifyRequest, mediaTypes: readonly string[]): Failure | undefined {
  const { 'content-encoding': coding = 'identity', 'content-type': type } = request.headers
  if (coding.toLowerCase() !== 'identity') {
    return new Failure('unsupported-content-coding', 'the body must not have a content coding')
  }
  // Most send it just so, or nothing at all, which is for Fastify to judge.
  if (type === undefined || mediaTypes.includes(type)) return undefined
  for (const [, charset = ''] of type.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)) {
    if (!/^utf-?8$/i.test(charset)) {
      return new Failure('unsupported-charset', `the body must be in UTF-8, not in ${charset}`)
    }
  }
  // Fastify looks at what can be read, not at what the operation takes.
  const { mediaType } = request
  return mediaType === undefined || mediaTypes.includes(mediaType)
    ? undefined
    : wrongMediaType(request)
}

export function wrongMediaType({ operation }: FastifyRequest): Failure {
  const types = operation?.mediaTypes.join(' or ')
  return new Failure('unsupported-media-type', `the body must have the content type ${types}`)
}

/** What is wrong with the content of a body, as Ajv found it. */
export function bodyFailure(error: FastifySchemaValidationError): Failure {
  const { keyword, instancePath, params, message } = error
  // Of several types Ajv makes a list without a space.
  const wanted = keyword === 'type' ? `must be ${[params.type].flat().join(' or ')}` : message
  return new Failure('invalid-body', `body${instancePath} ${wanted}`)
}
