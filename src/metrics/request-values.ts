import { type ErrorCode, errorCodes } from '../../contract/error-codes.gen.ts'
import { counter, histogram, type Metric, type Sample } from './metric.ts'
import { type RequestMemory, readErrors, readMalformed, readRequests } from './request-metrics.ts'

/** The errors for requests without a complete head. */
const MALFORMED: readonly ErrorCode[] = [
  'malformed-request',
  'request-timeout',
  'headers-too-large',
]

/** The metrics of the requests of all threads. */
export function httpMetrics(threads: readonly RequestMemory[]): Metric[] {
  const durations = threads.flatMap(readRequests).map(
    ({ method, route, status, duration }) =>
      [
        {
          http_request_method: method,
          // An empty label counts as missing.
          http_route: route,
          http_response_status_code: status,
        },
        duration,
      ] as const,
  )
  const count = (code: ErrorCode) =>
    threads.reduce((sum, memory) => sum + readErrors(memory, code), 0)
  const countEach = (...codes: readonly ErrorCode[]) =>
    codes.map((code): Sample => [{ reason: code }, count(code)])
  return [
    histogram(
      'http_server_request_duration_seconds',
      'From the head of a request to the end of its response. No status if the client disconnected before that.',
      ...durations,
    ),
    counter(
      'plant_store_malformed_requests_total',
      'Requests without a complete, valid head.',
      ...MALFORMED.map((code): Sample => {
        const count = threads.reduce((sum, memory) => sum + readMalformed(memory, code), 0)
        return [{ http_response_status_code: errorCodes[code].status }, count]
      }),
    ),
    counter(
      'plant_store_rejected_tokens_total',
      'Requests with an unknown, expired or revoked access token.',
      [{}, count('token-invalid')],
    ),
    counter(
      'plant_store_limited_requests_total',
      'Requests beyond a rate limit, which got 429.',
      ...countEach('too-many-failures', 'too-many-requests'),
    ),
    counter(
      'plant_store_shed_requests_total',
      'Requests that could not be served at the time, which got 503.',
      ...countEach('service-busy', 'store-busy', 'store-unavailable'),
    ),
  ]
}
