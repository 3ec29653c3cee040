import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LogController } from 'fastify'
import { pathOf } from './path.ts'

/** What Fastify logs of requests by itself: nothing, or one line for each that was answered. */
export function requestLog(wanted: boolean): LogController {
  return wanted ? new RequestLog() : new LogController({ disableRequestLogging: true })
}

/** A logger for each request costs as much as finding a plant, and tells only what a line for each needs. */
export function shareLogger(app: FastifyInstance): void {
  app.setChildLoggerFactory((logger) => logger)
}

/** Not the query, the headers or the body: there may be secrets in them. */
class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    request.log.info(
      {
        method: request.method,
        path: pathOf(request),
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'answered',
    )
  }
}
