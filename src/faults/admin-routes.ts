import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AdminRoutes } from '../http/admin/admin-server.ts'
import { ApiError } from '../http/responses/api-error.ts'
import { sendJson } from '../http/responses/response.ts'
import { InvalidFaults } from './fault-check.ts'
import type { FaultInjection } from './fault-injection.ts'

/** The largest JSON of faults, in a file or a request. */
export const FAULTS_BYTES_MAX = 2 ** 16

const FAULTS = '/faults'
const REQUESTS = '/requests'

/** No condition of the contract: its 403s are about tokens. */
const FOREIGN_ORIGIN = JSON.stringify({
  error: 40300,
  message: 'requests from web pages of other origins are refused',
})

/** Lets programs in any language set the faults and read the recorded requests, on the admin port. */
export function faultRoutes(injection: FaultInjection): AdminRoutes {
  return {
    methods: {
      [FAULTS]: ['GET', 'HEAD', 'PUT', 'DELETE'],
      [REQUESTS]: ['GET', 'HEAD', 'DELETE'],
    },
    // A scope of its own, for the hook and the parser.
    add: (app) => void app.register(async (scope) => addRoutes(scope, injection)),
  }
}

function addRoutes(scope: FastifyInstance, injection: FaultInjection): void {
  scope.addHook('onRequest', async (request, reply) => {
    const { origin, host } = request.headers
    const isForeign = origin !== undefined && origin !== `http://${host}`
    if (isForeign) return sendJson(reply, 403, FOREIGN_ORIGIN)
    if (request.method === 'PUT') checkBody(request)
  })
  // Fastify would wait for the body that a Content-Type announces.
  scope.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (_request: FastifyRequest, json: string) => json,
  )
  const read = (url: string, toBody: () => unknown) =>
    scope.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (_request, reply) => sendJson(reply, 200, toJson(toBody())),
    })
  const change = (method: 'PUT' | 'DELETE', url: string, act: (body: unknown) => void) =>
    scope.route({
      method,
      url,
      handler: (request, reply) => {
        act(request.body)
        return reply.code(204).send()
      },
    })
  read(FAULTS, () => injection.faults)
  change('PUT', FAULTS, (json) => putFaults(injection, String(json)))
  change('DELETE', FAULTS, () => injection.setFaults([]))
  read(REQUESTS, () => injection.requests)
  change('DELETE', REQUESTS, () => injection.clearRequests())
}

/** A web page can send other types to a different origin without asking first. */
function checkBody({ mediaType, headers }: FastifyRequest): void {
  if (mediaType !== 'application/json') {
    throw new ApiError('unsupported-media-type', 'the Content-Type must be application/json')
  }
  if (Number(headers['content-length']) <= FAULTS_BYTES_MAX) return
  throw new ApiError('body-too-large', `expected a Content-Length of at most ${FAULTS_BYTES_MAX}`)
}

function putFaults(injection: FaultInjection, json: string): void {
  try {
    injection.setFaultsJson(json)
  } catch (error) {
    throw error instanceof InvalidFaults ? new ApiError('invalid-body', error.message) : error
  }
}

/** JSON in which ids are exact. */
function toJson(value: unknown): string {
  // TypeScript does not declare it yet.
  const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown }
  return JSON.stringify(value, (_name, member) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member,
  )
}
