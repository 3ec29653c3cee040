import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RequestLogs } from '../../config/setting-values.ts'
import { LimitedLog } from '../../observing/limited-log.ts'

/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/** `version-trace-parent-flags` (https://www.w3.org/TR/trace-context/#traceparent-header). */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}/

/** How many rejected requests of a kind are logged per period. */
const REJECTIONS_MAX = 5
const REJECTION_PERIOD_MS = 1000

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs a line for a request that Fastify does not respond to. Undefined if requests are not logged. */
    logWhenClosed: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined
  }
  interface FastifyRequest {
    /** In milliseconds of a monotonic clock. Only if requests are logged. */
    arrivedAt: number
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
  app.decorateRequest('arrivedAt', 0)
  app.addHook('onRequest', (request, _reply, next) => {
    request.arrivedAt = performance.now()
    next()
  })
  app.addHook('onSend', (request, reply, _payload, next) => {
    logWhenClosed(request, reply)
    next()
  })
}

/** Omits the query, headers and body, which may contain secrets. */
function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { name, subject } = request.grant ?? {}
  logOf(request).info(
    {
      method: request.method,
      path: getPath(request),
      status: reply.statusCode,
      ...(subject === undefined ? { token: name } : { subject }),
      address: request.ip,
      milliseconds: Math.round((performance.now() - request.arrivedAt) * 1000) / 1000,
    },
    reply.raw.writableFinished
      ? 'response sent'
      : 'client disconnected before the response was sent',
  )
}

/** The path of a request as sent, without the query, which may contain secrets. */
export function getPath({ url }: { readonly url: string }): string {
  return url.replace(/[?#].*/s, '')
}

/** Creates a logger that adds the request id, and the trace id of a W3C `traceparent`, to each line. */
export function logOf({ server, id, headers }: FastifyRequest): FastifyBaseLogger {
  const [, traceId] = TRACE_PARENT.exec(String(headers.traceparent)) ?? []
  return server.log.child({ requestId: id, ...(traceId !== undefined && { traceId }) })
}

/** Logs why a request is rejected, with details for the operator. */
export type LogRejection = (request: FastifyRequest, reason: string, details?: object) => void

/**
 * Creates a log of rejected requests of one kind. It has only a few lines per second, so that clients cannot fill the
 * disk.
 *
 * @param summary the message with the number of omitted lines
 */
export function createRejectionLog(app: FastifyInstance, summary: string): LogRejection {
  const rejections = new LimitedLog({
    periodMs: REJECTION_PERIOD_MS,
    linesMax: REJECTIONS_MAX,
    onOmitted: (omitted) => app.log.warn({ omitted }, summary),
  })
  app.addHook('onClose', async () => rejections.forgetAll())
  return (request, reason, details = {}) =>
    rejections.write(summary, () => logOf(request).warn(details, reason))
}
