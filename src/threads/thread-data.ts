import type { MessagePort } from 'node:worker_threads'
import type { ContractDocument } from '../../core/contract/contract.ts'
import type { ReadKeys } from '../auth/issuer-keys.ts'
import type { Config } from '../config/config.ts'
import { ThreadModule } from '../system/thread-module.ts'
import type { HttpServer } from './http-server.ts'

/** The data that starts an HTTP thread. */
export interface ThreadData {
  readonly config: Config
  readonly contract: ContractDocument
  /** See AppOptions. */
  readonly hiddenFields: readonly string[]
  /** Starts at 1. */
  readonly number: number
  /** How many HTTP threads there are. */
  readonly threads: number
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean
  /** Whether this is the thread that logs what all threads do alike. */
  readonly logsForAll: boolean
  /** See Certificate. */
  readonly ticketSecret: Uint8Array
  /** The data of a StoreLink. */
  readonly store: unknown
  /** Receives the main thread's calls of ThreadMethods. */
  readonly control: MessagePort
  /** Sends calls of MainMethods. */
  readonly main: MessagePort
}

/** Calls from the main thread to an HTTP thread. `prepare` comes first. */
export interface ThreadMethods extends Pick<HttpServer, 'listen' | 'close' | 'readMetrics'> {
  /** Builds the application. */
  prepare(): Promise<void>
  /** Resolves if the thread can use the store. */
  ping(): Promise<void>
}

/** Calls from an HTTP thread to the main thread. */
export interface MainMethods {
  /** Resolves to the name of a thread that does not respond, if there is one. */
  findStuckThread(): Promise<string | undefined>
  /** Reads the keys of the issuer. */
  readonly readKeys: ReadKeys
}

export const httpThread = new ThreadModule<ThreadData>('http-thread', import.meta.url)
