import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseExactJson } from '../contract/exact-json.ts'
import { Failure } from './failure.ts'

/**
 * Reads bodies as the contract has them: JSON, in UTF-8, as it is. In the scope of the contract's
 * routes.
 */
export function readExactJson(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request, body: Buffer, done) => {
      try {
        done(null, parseExactJson(body))
      } catch (error) {
        done(error as Error)
      }
    },
  )
  scope.addHook('preParsing', async (request, reply) => {
    refuseEncodedBody(request)
    // The client waits for a word before it sends the body (RFC 9110 §10.1.1); whoever was refused
    // before never sends it.
    if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue()
  })
  // Fastify validates only a body of a listed media type; one without any would slip through.
  scope.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.config.operation?.bodyRequired) {
      throw new Failure('invalid-body', 'body is required')
    }
  })
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
