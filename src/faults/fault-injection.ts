import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ContractDocument } from '../../core/contract/contract.ts'
import { known, propertiesOf } from '../../core/known.ts'
import type { SharedFeed } from '../../service/shared-feed.ts'
import type { FaultHooks } from '../http/app.ts'
import { prefersEvents } from '../http/following/event-stream.ts'
import { dripResponse, toHtml } from './altered-body.ts'
import { closeConnection, cutResponse } from './cut-response.ts'
import { type DocumentedErrors, documentedErrors } from './documented-errors.ts'
import type { Fault, RecordedRequest } from './fault.ts'
import { checkFaults, parseFaults } from './fault-check.ts'
import { FaultRule } from './fault-rule.ts'
import { injectedError } from './injected-error.ts'
import { type RecorderLimits, RequestRecord, RequestRecorder } from './request-recorder.ts'

/** Makes requests fail on demand, and records all of them. */
export class FaultInjection implements FaultHooks {
  readonly #errors: DocumentedErrors
  readonly #recorder: RequestRecorder
  readonly #records = new WeakMap<FastifyRequest, RequestRecord>()
  /** The requests whose responses are delayed. */
  readonly #late = new WeakMap<FastifyRequest, Fault>()
  /** The requests whose responses are in HTML. */
  readonly #html = new WeakSet<FastifyRequest>()
  readonly #stopping = new AbortController()
  #rules: readonly FaultRule[] = []
  #feed: Pick<SharedFeed, 'forgetPages'> | undefined

  constructor(contract: ContractDocument, limits?: RecorderLimits) {
    this.#errors = documentedErrors(contract)
    this.#recorder = new RequestRecorder(limits)
  }

  get faults(): readonly Fault[] {
    return this.#rules.map(({ fault }) => fault)
  }

  /**
   * Replaces all faults, and counts from 1 again.
   *
   * @throws InvalidFaults
   */
  setFaults(faults: readonly Fault[]): void {
    this.#replace(checkFaults(structuredClone(faults), this.#errors))
  }

  /**
   * Replaces all faults by those in JSON.
   *
   * @throws InvalidJson, InvalidFaults
   */
  setFaultsJson(json: string): void {
    this.#replace(parseFaults(json, this.#errors))
  }

  #replace(faults: readonly Fault[]): void {
    this.#rules = faults.map((fault, index) => new FaultRule(fault, index))
  }

  /** Requests to paths that need no token, such as health checks, and those with a malformed head are not recorded. */
  get requests(): RecordedRequest[] {
    return this.#recorder.requests
  }

  clearRequests(): void {
    this.#recorder.clear()
  }

  /** Forgets what belongs to the plants before a reset. Faults stay. */
  forgetAll(): void {
    this.#recorder.clear()
    this.#feed?.forgetPages()
  }

  record(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, next) => {
      if (!request.routeOptions.config?.open) {
        const record = new RequestRecord(request, reply)
        this.#records.set(request, record)
        this.#recorder.add(record)
      }
      next()
    })
    // The server waits for delayed requests before it closes.
    app.addHook('preClose', async () => this.#stopping.abort())
  }

  inject(scope: FastifyInstance, feed: Pick<SharedFeed, 'forgetPages'>): void {
    this.#feed = feed
    scope.addHook('preHandler', (request, reply) => this.#injectFault(request, reply))
    scope.addHook('onSend', (request, reply, body, next) => {
      const sent = body && this.#html.has(request) ? toHtml(reply) : body
      const late = this.#late.get(request)
      if (late === undefined) return next(null, sent)
      // Otherwise Fastify sends another response once the handler has returned.
      reply.hijack()
      this.#delay(late).then(() => next(null, sent))
    })
  }

  async #injectFault(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const record = known(this.#records.get(request))
    const ids = plantIds(request)
    this.#recorder.addIds(record, ids)
    const operation = known(request.operation)
    const target = { operation: operation.id, token: request.grant?.name, ids }
    // All of them count the request.
    const [rule] = this.#rules.filter((each) => each.appliesTo(target))
    if (rule === undefined) return undefined
    const { fault, name } = rule
    record.fault = name
    const isStream = operation.isFollowable && prefersEvents(request)
    // Fastify does not send streams, so no hook precedes their heads.
    if (fault.delay === 'before-response' && !isStream) this.#late.set(request, fault)
    else await this.#delay(fault)
    const { error: code, retryAfter, cut, dripMs, body } = fault
    if (dripMs !== undefined) dripResponse(reply.raw, dripMs, this.#stopping.signal)
    if (body !== undefined) this.#html.add(request)
    if (code !== undefined) {
      const message = known(this.#errors.get(operation.id)?.get(code))
      throw injectedError({ code, message, request }, retryAfter)
    }
    if (cut === 'before-work') {
      reply.hijack()
      closeConnection(request.raw.socket, fault)
    } else if (cut !== undefined) {
      cutResponse(reply.raw, fault)
    }
    return body !== undefined && isStream ? reply.send(toHtml(reply)) : undefined
  }

  async #delay({ delayMs }: Pick<Fault, 'delayMs'> = {}): Promise<void> {
    if (delayMs === undefined) return
    await wait(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }
}

/** The ids of plants in the parts of a valid request. */
function plantIds({ params, query, body }: FastifyRequest): bigint[] {
  const found = [params, query, ...[body].flat()].flatMap((part) => propertiesOf(part).id)
  return [...new Set(found.filter((id) => typeof id === 'bigint'))]
}
