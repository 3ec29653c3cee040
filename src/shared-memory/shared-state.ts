import { SharedCounter } from './shared-counter.ts'
import { SharedSecret } from './shared-secret.ts'
import { SharedTable } from './shared-table.ts'

/** As node:tls requires. */
const TICKET_KEYS_LENGTH = 48

/** What the HTTP threads of a process count and remember together, so that limits apply to the process. */
export class SharedState {
  /** Open connections. */
  readonly connections: SharedCounter
  /** New connections closed because there were too many. */
  readonly refusedConnections: SharedCounter
  /** Connections closed because too many pipelined requests were waiting. */
  readonly droppedPipelines: SharedCounter
  /** Pipelined requests that wait for earlier ones. */
  readonly queuedRequests: SharedCounter
  /** Streams of changes. */
  readonly streams: SharedCounter
  /** Requests that wait for a page of changes. */
  readonly longPolls: SharedCounter
  /** Bytes of large request bodies being received. */
  readonly receivedBytes: SharedCounter
  /** Bytes of large JSON responses being sent. */
  readonly sentBytes: SharedCounter
  /** Bytes of the docs being sent over TLS. */
  readonly encryptedBytes: SharedCounter
  /** Access tokens rejected in the current period of the log. */
  readonly rejectedTokens: SharedCounter
  /** Requests rejected in the current period of the log because the store is unavailable. */
  readonly unavailable: SharedCounter
  /** A token bucket for each address that failed to authenticate. */
  readonly failures: SharedTable
  /** A token bucket for each access token. */
  readonly requests: SharedTable
  /** When the use of each valid access token was last noted. */
  readonly tokenUses: SharedTable
  /** Encrypts TLS session tickets, so that a client can resume its session in any thread (RFC 5077). */
  readonly ticketKeys: SharedSecret

  /** @param memory of another thread's object, to share its state */
  constructor(memory: Partial<SharedMemory> = {}) {
    this.connections = new SharedCounter(memory.connections)
    this.refusedConnections = new SharedCounter(memory.refusedConnections)
    this.droppedPipelines = new SharedCounter(memory.droppedPipelines)
    this.queuedRequests = new SharedCounter(memory.queuedRequests)
    this.streams = new SharedCounter(memory.streams)
    this.longPolls = new SharedCounter(memory.longPolls)
    this.receivedBytes = new SharedCounter(memory.receivedBytes)
    this.sentBytes = new SharedCounter(memory.sentBytes)
    this.encryptedBytes = new SharedCounter(memory.encryptedBytes)
    this.rejectedTokens = new SharedCounter(memory.rejectedTokens)
    this.unavailable = new SharedCounter(memory.unavailable)
    this.failures = new SharedTable(memory.failures)
    this.requests = new SharedTable(memory.requests)
    this.tokenUses = new SharedTable(memory.tokenUses)
    this.ticketKeys = new SharedSecret(TICKET_KEYS_LENGTH, memory.ticketKeys)
  }

  /** What another thread needs to share this state. */
  get memory(): SharedMemory {
    const parts: [string, { memory: SharedArrayBuffer }][] = Object.entries(this)
    return Object.fromEntries(parts.map(([name, { memory }]) => [name, memory])) as SharedMemory
  }
}

export type SharedMemory = {
  readonly [Part in Exclude<keyof SharedState, 'memory'>]: SharedArrayBuffer
}
