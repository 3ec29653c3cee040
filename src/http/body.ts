import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Operation } from '../contract/contract.ts'
import { parseExactJson } from '../contract/exact-json.ts'
import { Failure } from './failure.ts'

/** The media types that are JSON; which of them an operation takes, the contract says. */
const JSON_TYPES = ['application/json', 'application/merge-patch+json']

/**
 * Reads bodies as the contract has them: JSON, in UTF-8, as it is. In the scope of the contract's
 * routes.
 */
export function readExactJson(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, parseExactJson(body))
    } catch (error) {
      done(error as Error)
    }
  })
  // The content of a DELETE means nothing (RFC 9110 §9.3.5), as that of a GET.
  scope.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  scope.addHook('preParsing', async (request, reply) => {
    const { mediaTypes } = operationOf(request)
    if (mediaTypes.length === 0) return
    refuseEncodedBody(request)
    // Fastify looks at what can be read, not at what the operation takes.
    if (request.mediaType !== undefined && !mediaTypes.includes(request.mediaType)) {
      throw wrongMediaType(request)
    }
    // The client waits for a word before it sends the body (RFC 9110 §10.1.1); whoever was refused
    // before never sends it.
    if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue()
  })
  // Fastify validates only a body of a listed media type; one without any would slip through.
  scope.addHook('preValidation', async (request) => {
    if (request.body === undefined && operationOf(request).bodyRequired) {
      throw new Failure('invalid-body', 'body is required')
    }
  })
}

export function wrongMediaType(request: FastifyRequest): Failure {
  const types = operationOf(request).mediaTypes.join(' or ')
  return new Failure('unsupported-media-type', `the body must have the content type ${types}`)
}

/** Only operations have bodies. */
function operationOf({ routeOptions }: FastifyRequest): Operation {
  return routeOptions.config.operation as Operation
}

function refuseEncodedBody({ headers }: FastifyRequest): void {
  const coding = headers['content-encoding'] ?? 'identity'
  if (coding.toLowerCase() !== 'identity') {
    throw new Failure('unsupported-content-coding', 'the body must not have a content coding')
  }
  const type = headers['content-type'] ?? ''
  for (const [, charset = ''] of type.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)) {
    if (!/^utf-?8$/i.test(charset)) {
      throw new Failure('unsupported-charset', `the body must be in UTF-8, not in ${charset}`)
    }
  }
}
