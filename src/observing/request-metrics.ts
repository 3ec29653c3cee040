import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { Counter, Gauge, Registry } from '@prometheus-io/client'
import type { FastifyInstance } from 'fastify'
import { type ErrorCode, errorCodes } from '../../core/generated/error-codes.gen.ts'
import { known } from '../../core/known.ts'
import { type Durations, RequestDurations } from './request-durations.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined if requests are not measured. */
    requestMetrics: RequestMetrics | undefined
  }
  interface FastifyContextConfig {
    /** The index of the route in the metrics. */
    metricsRoute?: number
  }
}

/** Methods with their own label. All others are `_OTHER`, which bounds the number of series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', '_OTHER']
const OTHER_METHOD = METHODS.length - 1
const methodIndexes = new Map(METHODS.map((method, index) => [method, index]))

/** 0 stands for a response that the client did not wait for. */
const STATUSES = [0, ...Object.keys(STATUS_CODES).map(Number)]
const statusIndexes = new Map(STATUSES.map((status, index) => [status, index]))

/** The errors for requests without a complete head. */
const MALFORMED: readonly ErrorCode[] = [
  'malformed-request',
  'request-timeout',
  'headers-too-large',
]

type Labels = Readonly<Record<string, string | number>>

/** The index of the route of requests without one, such as those for an unknown path. */
const NO_ROUTE = 0

const startTime = Symbol('when the head of the request was parsed, in milliseconds')
const stopTime = Symbol('since when the request does not count, in milliseconds')
const routeIndex = Symbol('the index of the route that serves the request')
const rejectedStatus = Symbol('the status of the error that was sent in place of the response')

/** Properties rather than a WeakMap, because they are used for every request. */
type MeasuredResponse = ServerResponse<IncomingMessage> & {
  [startTime]?: number
  [stopTime]?: number | undefined
  [routeIndex]?: number
  [rejectedStatus]?: number
}

/** How many requests of a thread wait for changes. */
export interface FollowerCounts {
  readonly streams: number
  readonly longPolls: number
}

/** Measures the requests and connections of one thread. */
export class RequestMetrics {
  readonly registry = new Registry()
  /** The contract's templates of the routes, such as `/plants/{id}`. The first is empty. */
  readonly #routes: string[] = ['']
  readonly #durations = new RequestDurations(this.registry)
  /** By route, method and status. Added when they are first used. */
  readonly #series: (Durations | undefined)[] = []
  readonly #malformed = new Map<ErrorCode, Counter.Internal>()
  readonly #errors = new Map<ErrorCode, Counter.Internal>()

  constructor() {
    const count = (
      counts: Map<ErrorCode, Counter.Internal>,
      codes: readonly ErrorCode[],
      { name, help, toLabels }: { name: string; help: string; toLabels(code: ErrorCode): Labels },
    ) => {
      const labelNames = Object.keys(toLabels('internal-error'))
      const counter = new Counter({ name, help, labelNames, registers: [this.registry] })
      for (const code of codes) {
        // Present from the start, so that the first increase shows.
        counter.inc(toLabels(code), 0)
        counts.set(code, counter.labels(toLabels(code)))
      }
    }
    const toReason = (code: ErrorCode) => ({ reason: code })
    count(this.#malformed, MALFORMED, {
      name: 'plant_store_malformed_requests_total',
      help: 'Requests without a complete, valid head.',
      toLabels: (code) => ({ http_response_status_code: errorCodes[code].status }),
    })
    count(this.#errors, ['token-invalid'], {
      name: 'plant_store_rejected_tokens_total',
      help: 'Requests with an unknown, expired or revoked access token.',
      toLabels: () => ({}),
    })
    count(this.#errors, ['too-many-failures', 'too-many-requests'], {
      name: 'plant_store_limited_requests_total',
      help: 'Requests beyond a rate limit, which got 429.',
      toLabels: toReason,
    })
    count(this.#errors, ['service-busy', 'store-busy', 'store-unavailable', 'issuer-unavailable'], {
      name: 'plant_store_shed_requests_total',
      help: 'Requests that could not be served at the time, which got 503.',
      toLabels: toReason,
    })
  }

  /**
   * Measures each request of an application, from its head to the end of its response or connection. Must be called
   * before the first route is added.
   */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      const template = route.url.replace(/:(\w+)/g, '{$1}')
      const found = this.#routes.indexOf(template)
      const index = found === -1 ? this.#routes.push(template) - 1 : found
      route.config = { ...route.config, metricsRoute: index }
    })
    const end = (response: MeasuredResponse) => this.#end(response)
    // One function for all responses costs less than one for each.
    function onClose(this: MeasuredResponse): void {
      end(this)
    }
    app.server.prependListener('request', (_request, response: MeasuredResponse) => {
      response[startTime] = performance.now()
      response[routeIndex] = NO_ROUTE
      response.on('close', onClose)
    })
  }

  watchConnections(counts: {
    readonly open: number
    readonly refused: number
    readonly pipelined: number
  }): void {
    const registers = [this.registry]
    new Gauge({
      name: 'plant_store_http_connections',
      help: 'Open connections.',
      registers,
      collect() {
        this.set(counts.open)
      },
    })
    new Counter({
      name: 'plant_store_dropped_connections_total',
      help: 'Connections closed before all their requests had a response.',
      labelNames: ['reason'],
      registers,
      collect() {
        this.reset()
        this.inc({ reason: 'max-connections' }, counts.refused)
        this.inc({ reason: 'pipelining' }, counts.pipelined)
      },
    })
  }

  watchFollowers(counts: FollowerCounts): void {
    new Gauge({
      name: 'plant_store_followers',
      help: 'Requests that wait for changes.',
      labelNames: ['type'],
      registers: [this.registry],
      collect() {
        this.set({ type: 'stream' }, counts.streams)
        this.set({ type: 'long-poll' }, counts.longPolls)
      },
    })
  }

  /** Notes which route serves a request: its `metricsRoute`. */
  setRoute(response: MeasuredResponse, index = NO_ROUTE): void {
    response[routeIndex] = index
  }

  /** The time from now on does not count towards the duration of the request. */
  stopClock(response: MeasuredResponse): void {
    response[stopTime] = performance.now()
  }

  /** The time from now on counts again. */
  startClock(response: MeasuredResponse): void {
    const { [startTime]: start = 0, [stopTime]: stop = 0 } = response
    response[startTime] = start + performance.now() - stop
    response[stopTime] = undefined
  }

  /** Counts an error that is sent to a client. */
  countError(code: ErrorCode): void {
    this.#errors.get(code)?.inc()
  }

  /**
   * Counts an error that is written directly to a socket.
   *
   * @param replaced the response that it replaces; without one, the request had no complete head. Such a request is
   *   counted separately, because it has no duration.
   */
  reject(code: ErrorCode, replaced?: MeasuredResponse): void {
    if (replaced === undefined) this.#malformed.get(code)?.inc()
    else replaced[rejectedStatus] = errorCodes[code].status
  }

  #end(response: MeasuredResponse): void {
    const { [startTime]: start = 0, [routeIndex]: route = NO_ROUTE, req } = response
    const end = response[stopTime] ?? performance.now()
    // A stream has no end that its client waits for.
    const isStream = response[stopTime] !== undefined && response.headersSent
    const isSent = response.writableFinished || isStream
    const status = (isSent ? response.statusCode : response[rejectedStatus]) ?? 0
    this.#find(route, String(req.method), status).observe((end - start) / 1000)
  }

  #find(route: number, method: string, status: number): Durations {
    const methodIndex = methodIndexes.get(method) ?? OTHER_METHOD
    const index =
      (route * METHODS.length + methodIndex) * STATUSES.length + known(statusIndexes.get(status))
    const existing = this.#series[index]
    if (existing !== undefined) return existing
    const durations = this.#durations.add({
      http_request_method: known(METHODS[methodIndex]),
      // An empty label counts as missing.
      http_route: known(this.#routes[route]),
      http_response_status_code: String(status || ''),
    })
    this.#series[index] = durations
    return durations
  }
}
