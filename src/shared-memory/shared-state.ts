import { SharedCounter } from './shared-counter.ts'
import { SharedSecret } from './shared-secret.ts'
import { SharedTable } from './shared-table.ts'

const TICKET_SECRET_LENGTH = 32

/** What the HTTP threads of a process count and remember together. */
export class SharedState {
  /** Open connections. */
  readonly connections: SharedCounter
  /** New connections closed because there were too many. */
  readonly refusedConnections: SharedCounter
  /** Connections closed because another request arrived before a response had ended. */
  readonly pipelined: SharedCounter
  /** Streams of changes. */
  readonly streams: SharedCounter
  /** Requests that wait for a page of changes. */
  readonly longPolls: SharedCounter
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
  /** For the keys of TLS session tickets, so that a client can resume its session in any thread (RFC 5077). */
  readonly ticketSecret: SharedSecret

  /** @param memory of another thread's object, to share its state */
  constructor(memory: Partial<SharedMemory> = {}) {
    this.connections = new SharedCounter(memory.connections)
    this.refusedConnections = new SharedCounter(memory.refusedConnections)
    this.pipelined = new SharedCounter(memory.pipelined)
    this.streams = new SharedCounter(memory.streams)
    this.longPolls = new SharedCounter(memory.longPolls)
    this.rejectedTokens = new SharedCounter(memory.rejectedTokens)
    this.unavailable = new SharedCounter(memory.unavailable)
    this.failures = new SharedTable(memory.failures)
    this.requests = new SharedTable(memory.requests)
    this.tokenUses = new SharedTable(memory.tokenUses)
    this.ticketSecret = new SharedSecret(TICKET_SECRET_LENGTH, memory.ticketSecret)
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
