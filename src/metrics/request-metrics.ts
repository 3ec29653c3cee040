import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type ErrorCode, errorCodes } from '../../contract/error-codes.gen.ts'
import { type ApiError, toErrorResponse } from '../http/api-error.ts'
import {
  DURATION_BOUNDS,
  type HistogramFigures,
  SharedHistogram,
} from '../shared-memory/shared-histogram.ts'

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
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const OTHER_METHOD = METHODS.length
const METHOD_NAMES = [...METHODS, '_OTHER']
const methodIndexes = new Map(METHODS.map((method, index) => [method, index]))

/** 0 stands for a response that the client did not wait for. */
const STATUSES = [0, ...Object.keys(STATUS_CODES).map(Number)]
const statusIndexes = new Map(STATUSES.map((status, index) => [status, index]))

const CODES = Object.keys(errorCodes) as ErrorCode[]
const codeIndexes = new Map(CODES.map((code, index) => [code, index]))

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

/** The memory in which a thread counts requests. Can be sent to another thread, which reads it at any time. */
export interface RequestMemory {
  /** The contract's templates of the routes, such as `/plants/{id}`. The first is empty. */
  readonly routes: readonly string[]
  /** Histograms of the durations by route, method and status. */
  readonly durations: SharedArrayBuffer
  /** Counts of the errors sent, by code. */
  readonly errors: SharedArrayBuffer
  /** The same, but only of those sent for requests without a complete head. */
  readonly malformed: SharedArrayBuffer
}

/** The requests of one route and method that had responses with one status. */
export interface RequestFigures {
  readonly method: string
  /** Empty for requests without a route. */
  readonly route: string
  /** Empty if the client disconnected before the response was sent. */
  readonly status: number | ''
  /** In seconds. */
  readonly duration: HistogramFigures
}

/** Measures the requests of one thread. */
export class RequestMetrics {
  readonly #routes: string[] = ['']
  readonly #errors = countsByCode()
  readonly #malformed = countsByCode()
  #durations: SharedArrayBuffer | undefined
  /** Created when they are first used. */
  readonly #histograms: (SharedHistogram | undefined)[] = []

  /** Call it before the application's first route is added. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', (route) => {
      const template = route.url.replace(/:(\w+)/g, '{$1}')
      const known = this.#routes.indexOf(template)
      const index = known === -1 ? this.#routes.push(template) - 1 : known
      route.config = { ...route.config, metricsRoute: index }
    })
  }

  /** The memory of the figures. Call it when all routes are known. */
  get memory(): RequestMemory {
    const rows = this.#routes.length * METHOD_NAMES.length * STATUSES.length
    this.#durations ??= SharedHistogram.allocate(DURATION_BOUNDS, rows)
    return {
      routes: this.#routes,
      durations: this.#durations,
      errors: this.#errors.buffer,
      malformed: this.#malformed.buffer,
    }
  }

  /** Measures each request, from its head to the end of its response or connection. */
  watch(server: Server): void {
    const end = (response: MeasuredResponse) => this.#end(response)
    // One function for all responses costs less than one for each.
    function onClose(this: ServerResponse): void {
      end(this as MeasuredResponse)
    }
    server.prependListener('request', (_request, response: MeasuredResponse) => {
      response[startTime] = performance.now()
      response[routeIndex] = NO_ROUTE
      response.on('close', onClose)
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
    increment(this.#errors, code)
  }

  /**
   * Counts an error that is written directly to a socket.
   *
   * @param replaced the response that it replaces; without one, the request had no complete head. Such a request is
   *   counted separately, because it has no duration.
   */
  reject(error: ApiError, replaced?: MeasuredResponse): void {
    if (replaced === undefined) increment(this.#malformed, error.code)
    else replaced[rejectedStatus] = toErrorResponse(error).status
  }

  #end(response: MeasuredResponse): void {
    const { [startTime]: start = 0, [routeIndex]: route = NO_ROUTE, req } = response
    const method = methodIndexes.get(req.method as string) ?? OTHER_METHOD
    const end = response[stopTime] ?? performance.now()
    // A stream has no end that its client waits for.
    const isStream = response[stopTime] !== undefined && response.headersSent
    const isSent = response.writableFinished || isStream
    const status = isSent ? response.statusCode : response[rejectedStatus]
    this.#count(route, method, status ?? 0, (end - start) / 1000)
  }

  #count(route: number, method: number, status: number, seconds: number): void {
    const row =
      (route * METHOD_NAMES.length + method) * STATUSES.length +
      (statusIndexes.get(status) as number)
    let histogram = this.#histograms[row]
    if (histogram === undefined) {
      histogram = new SharedHistogram(DURATION_BOUNDS, this.memory.durations, row)
      this.#histograms[row] = histogram
    }
    histogram.add(seconds)
  }
}

/** What a thread has counted so far, without what never happened. */
export function readRequests({ routes, durations }: RequestMemory): RequestFigures[] {
  return Array.from(SharedHistogram.readAll(DURATION_BOUNDS, durations), ([index, duration]) => {
    const [row, status] = divide(index, STATUSES.length)
    const [route, method] = divide(row, METHOD_NAMES.length)
    return {
      method: METHOD_NAMES[method] as string,
      route: routes[route] as string,
      status: STATUSES[status] || '',
      duration,
    }
  })
}

function divide(dividend: number, divisor: number): [quotient: number, remainder: number] {
  return [Math.floor(dividend / divisor), dividend % divisor]
}

/** How often a thread has sent an error. */
export function readErrors({ errors }: RequestMemory, code: ErrorCode): number {
  return readCount(errors, code)
}

/** How often a thread has sent an error for a request without a complete head. */
export function readMalformed({ malformed }: RequestMemory, code: ErrorCode): number {
  return readCount(malformed, code)
}

function countsByCode(): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(CODES.length * Float64Array.BYTES_PER_ELEMENT))
}

function increment(counts: Float64Array, code: ErrorCode): void {
  const index = codeIndexes.get(code) as number
  counts[index] = (counts[index] as number) + 1
}

function readCount(memory: SharedArrayBuffer, code: ErrorCode): number {
  return new Float64Array(memory)[codeIndexes.get(code) as number] as number
}
