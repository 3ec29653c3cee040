import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listAlternatives } from '../../core/members/value-rules.ts'
import type { AdminRoutes } from '../http/admin/admin-server.ts'
import { ApiError } from '../http/responses/api-error.ts'
import { sendJson } from '../http/responses/response.ts'
import { FileError } from '../system/user-errors.ts'
import { InvalidFaults } from './fault-check.ts'
import type { FaultInjection } from './fault-injection.ts'

/** The largest JSON of faults, in a file or a request. */
export const FAULTS_BYTES_MAX = 2 ** 16

const SEED_BYTES_MAX = 2 ** 20

const FAULTS = '/faults'
const REQUESTS = '/requests'
const STORE = '/store'

/** A body that a route accepts. */
interface BodyRule {
  readonly types: readonly string[]
  readonly bytesMax: number
}

const JSON_TYPE = 'application/json'

const FAULTS_BODY: BodyRule = { types: [JSON_TYPE], bytesMax: FAULTS_BYTES_MAX }

const SEED_BODY: BodyRule = {
  types: [JSON_TYPE, 'application/x-ndjson', 'text/csv'],
  bytesMax: SEED_BYTES_MAX,
}

const EMPTY = new Uint8Array()

/** No condition of the contract: its 403s are about tokens. */
const FOREIGN_ORIGIN = JSON.stringify({
  error: 40300,
  message: 'requests from web pages of other origins are refused',
})

/** Replaces all plants by those of a file, and forgets the recorded requests. */
type Reset = (seed: Uint8Array) => Promise<void>

/** Lets programs in any language set the faults, read the recorded requests and reset the store, on the admin port. */
export function faultRoutes(injection: FaultInjection, reset: Reset): AdminRoutes {
  return {
    methods: {
      [FAULTS]: ['GET', 'HEAD', 'PUT', 'DELETE'],
      [REQUESTS]: ['GET', 'HEAD', 'DELETE'],
      [STORE]: ['PUT', 'DELETE'],
    },
    // A scope of its own, for the hook and the parser.
    add: (app) => void app.register(async (scope) => addRoutes(scope, injection, reset)),
  }
}

function addRoutes(scope: FastifyInstance, injection: FaultInjection, reset: Reset): void {
  scope.addHook('onRequest', async (request, reply) => {
    const { origin, host } = request.headers
    const isForeign = origin !== undefined && origin !== `http://${host}`
    if (isForeign) return sendJson(reply, 403, FOREIGN_ORIGIN)
    if (request.method === 'PUT') {
      checkBody(request, request.routeOptions.url === STORE ? SEED_BODY : FAULTS_BODY)
    }
  })
  // Fastify would wait for the body that a Content-Type announces.
  scope.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    [...SEED_BODY.types],
    { parseAs: 'buffer', bodyLimit: SEED_BYTES_MAX },
    async (_request: FastifyRequest, body: Buffer) => body,
  )
  const read = (url: string, toBody: () => unknown) =>
    scope.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (_request, reply) => sendJson(reply, 200, toJson(toBody())),
    })
  const change = (
    method: 'PUT' | 'DELETE',
    url: string,
    act: (body: unknown) => void | Promise<void>,
  ) =>
    scope.route({
      method,
      url,
      handler: async (request, reply) => {
        await act(request.body)
        return reply.code(204).send()
      },
    })
  read(FAULTS, () => injection.faults)
  change('PUT', FAULTS, (json) => putFaults(injection, String(json)))
  change('DELETE', FAULTS, () => injection.setFaults([]))
  read(REQUESTS, () => injection.requests)
  change('DELETE', REQUESTS, () => injection.clearRequests())
  change('PUT', STORE, (file) => putSeed(reset, file as Buffer))
  change('DELETE', STORE, () => reset(EMPTY))
}

/** A web page can send other types to a different origin without asking first. */
function checkBody(
  { mediaType = '', headers }: FastifyRequest,
  { types, bytesMax }: BodyRule,
): void {
  if (!types.includes(mediaType)) {
    const message = `the Content-Type must be ${listAlternatives(types)}`
    throw new ApiError('unsupported-media-type', message)
  }
  if (Number(headers['content-length']) <= bytesMax) return
  throw new ApiError('body-too-large', `expected a Content-Length of at most ${bytesMax}`)
}

async function putSeed(reset: Reset, file: Uint8Array): Promise<void> {
  try {
    await reset(file)
  } catch (error) {
    throw error instanceof FileError ? new ApiError('invalid-body', error.message) : error
  }
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
