import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LogController } from 'fastify'
import type { RequestLogs } from '../../config/setting-values.ts'
import { getPath } from './request-head.ts'

/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/** `version-trace-parent-flags` (https://www.w3.org/TR/trace-context/#traceparent-header). */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}/

/** Turns off Fastify's own request log, which omits requests whose client has disconnected. */
export const noRequestLog = new LogController({
  disableRequestLogging: true,
  requestIdLogLabel: 'requestId',
})

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs a line for a request that Fastify does not respond to. Undefined if requests are not logged. */
    logWhenClosed: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined
  }
}

/** Logs a line for each request once its response is sent or its client has disconnected. */
export function logRequests(app: FastifyInstance, which: RequestLogs): void {
  const logWhenClosed = (request: FastifyRequest, reply: FastifyReply) => {
    const { raw } = reply
    if (which === 'changes' && SAFE_METHODS.includes(request.method)) return
    if (raw.closed) logRequest(request, reply)
    else raw.once('close', () => logRequest(request, reply))
  }
  app.decorate('logWhenClosed', which === 'off' ? undefined : logWhenClosed)
  if (which === 'off') return
  app.addHook('onSend', (request, reply, _payload, next) => {
    logWhenClosed(request, reply)
    next()
  })
}

/** Omits the query, headers and body, which may contain secrets. */
function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  request.log.info(
    {
      method: request.method,
      path: getPath(request),
      status: reply.statusCode,
      token: request.grant?.name,
      address: request.ip,
      milliseconds: Math.round(reply.elapsedTime * 1000) / 1000,
    },
    reply.raw.writableFinished
      ? 'response sent'
      : 'client disconnected before the response was sent',
  )
}

/**
 * Adds the request id, and the trace id of a W3C `traceparent`, to every log line about a request. The request's logger
 * is created with its first line, because creating one costs as much as finding a plant.
 */
export function logRequestIds(app: FastifyInstance): void {
  app.setChildLoggerFactory(
    (logger, bindings, options, request) =>
      new LazyLogger(() => logger.child({ ...bindings, ...parseTraceId(request) }, options)),
  )
}

function parseTraceId({ headers }: IncomingMessage): { traceId?: string } {
  const [, traceId] = TRACE_PARENT.exec(String(headers.traceparent)) ?? []
  return traceId === undefined ? {} : { traceId }
}

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

/** Creates a logger when it is first used. */
class LazyLogger implements FastifyBaseLogger {
  readonly #create: () => FastifyBaseLogger
  #created: FastifyBaseLogger | undefined

  constructor(create: () => FastifyBaseLogger) {
    this.#create = create
  }

  get #logger(): FastifyBaseLogger {
    this.#created ??= this.#create()
    return this.#created
  }

  get level(): string {
    return this.#logger.level
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line)
  }

  error(...line: unknown[]): void {
    this.#write('error', line)
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line)
  }

  info(...line: unknown[]): void {
    this.#write('info', line)
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line)
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line)
  }

  silent(): void {}

  child(...options: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#logger.child(...options)
  }

  #write(level: Level, line: unknown[]): void {
    Reflect.apply(this.#logger[level], this.#logger, line)
  }
}
