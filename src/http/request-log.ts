import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LogController } from 'fastify'
import type { RequestLogs } from '../setting-values.ts'
import { pathOf } from './path.ts'

const LABEL = { requestIdLogLabel: 'requestId' }

/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE = ['GET', 'HEAD', 'OPTIONS']

/** `version-trace-parent-flags` (https://www.w3.org/TR/trace-context/#traceparent-header). */
const TRACE_PARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/

/** What Fastify itself logs about requests. */
export function requestLog(wanted: RequestLogs): LogController {
  if (wanted === 'off') return new LogController({ ...LABEL, disableRequestLogging: true })
  return new RequestLog(wanted)
}

/** A line for each request that was answered, or whose client has gone. */
class RequestLog extends LogController {
  readonly #wanted: RequestLogs

  constructor(wanted: RequestLogs) {
    super(LABEL)
    this.#wanted = wanted
  }

  override incomingRequest(): void {}

  /** Without query, headers and body, which may contain secrets. */
  override requestCompleted(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    if (this.#wanted === 'changes' && SAFE.includes(request.method)) return
    request.log.info(
      {
        method: request.method,
        path: pathOf(request),
        status: reply.statusCode,
        token: request.grant?.name,
        address: request.ip,
        milliseconds: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      error ? 'the client was gone before it had the response' : 'answered',
    )
  }
}

/**
 * Lets every line about a request have its id, and the trace id of a W3C `traceparent`. The logger is made
 * with the first line, as making it costs as much as finding a plant.
 */
export function logRequestIds(app: FastifyInstance): void {
  app.setChildLoggerFactory(
    (logger, bindings, options, request) =>
      new LazyLogger(() => logger.child({ ...bindings, ...traceOf(request) }, options)),
  )
}

function traceOf({ headers }: IncomingMessage): { traceId?: string } {
  const [, traceId] = TRACE_PARENT.exec(String(headers.traceparent)) ?? []
  return traceId === undefined ? {} : { traceId }
}

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

class LazyLogger implements FastifyBaseLogger {
  readonly #make: () => FastifyBaseLogger
  #made: FastifyBaseLogger | undefined

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make
  }

  get #logger(): FastifyBaseLogger {
    this.#made ??= this.#make()
    return this.#made
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
