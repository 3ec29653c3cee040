import type { FastifyReply, FastifyRequest } from 'fastify'
import { getPath } from '../http/responses/request-log.ts'
import type { RecordedRequest } from './fault.ts'

/** How many requests are kept, unless they take more memory than that. Older ones are forgotten. */
export interface RecorderLimits {
  readonly requestsMax: number
  readonly bytesMax: number
}

const LIMITS: RecorderLimits = { requestsMax: 10_000, bytesMax: 2 ** 24 }

/** What a record takes in memory, without its path and ids. */
const RECORD_BYTES = 256

/** What an id takes in memory. */
const ID_BYTES = 32

/** What is known about a request only after its head has arrived. */
type Outcome = Pick<RecordedRequest, 'operation' | 'token' | 'status'>

/** A request that has been received. */
export class RequestRecord {
  readonly #head: Pick<RecordedRequest, 'method' | 'path' | 'at'>
  /** What is known only after the head has arrived is read here until the response has ended. */
  #source: { readonly request: FastifyRequest; readonly reply: FastifyReply } | undefined
  #outcome: Outcome = {}
  ids: readonly bigint[] = []
  fault: string | number | undefined

  constructor(request: FastifyRequest, reply: FastifyReply) {
    const { method } = request
    // A copy, because a part of the URL would keep all of it.
    const path = Buffer.from(getPath(request)).toString()
    this.#head = { method, path, at: new Date().toISOString() }
    this.#source = { request, reply }
    reply.raw.once('close', () => {
      this.#outcome = readOutcome(request, reply)
      this.#source = undefined
    })
  }

  get bytes(): number {
    return RECORD_BYTES + this.#head.path.length + this.ids.length * ID_BYTES
  }

  read(): RecordedRequest {
    const fault = this.fault === undefined ? {} : { fault: this.fault }
    const outcome = this.#source
      ? readOutcome(this.#source.request, this.#source.reply)
      : this.#outcome
    return { ...this.#head, ...outcome, ...fault, ids: [...this.ids] }
  }
}

function readOutcome({ operation, grant }: FastifyRequest, { raw }: FastifyReply): Outcome {
  return {
    ...(operation && { operation: operation.id }),
    ...(grant && { token: grant.name }),
    ...(raw.headersSent && { status: raw.statusCode }),
  }
}

/** Keeps the latest requests, in the order in which they arrived. */
export class RequestRecorder {
  readonly #limits: RecorderLimits
  readonly #records = new Set<RequestRecord>()
  #bytes = 0

  constructor(limits: RecorderLimits = LIMITS) {
    this.#limits = limits
  }

  get requests(): RecordedRequest[] {
    return Array.from(this.#records, (record) => record.read())
  }

  add(record: RequestRecord): void {
    this.#records.add(record)
    this.#bytes += record.bytes
    this.#forgetOldest()
  }

  addIds(record: RequestRecord, ids: readonly bigint[]): void {
    const before = record.bytes
    record.ids = ids
    // It may have been forgotten while its body arrived.
    if (this.#records.has(record)) this.#bytes += record.bytes - before
    this.#forgetOldest()
  }

  clear(): void {
    this.#records.clear()
    this.#bytes = 0
  }

  #forgetOldest(): void {
    for (const record of this.#records) {
      if (this.#records.size <= this.#limits.requestsMax && this.#bytes <= this.#limits.bytesMax)
        return
      this.#records.delete(record)
      this.#bytes -= record.bytes
    }
  }
}
