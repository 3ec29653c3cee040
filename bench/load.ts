import { generateByAutocannon } from './autocannon.ts'
import type { Ids, Kind } from './requests.ts'
import { findWrk, generateByWrk } from './wrk.ts'

export interface Load extends Ids {
  readonly kind: Kind
  readonly connections: number
  readonly seconds: number
}

/** A load that is preceded by as many seconds of the same, until the code is compiled and the log has grown. */
export interface WarmLoad extends Load {
  readonly warmUp: number
}

/** What a load gave; times are in milliseconds. */
export interface Measured {
  /** How many were answered. */
  readonly requests: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Answers of a status that says failure, and requests that were not answered. */
  readonly failed: number
}

/** Puts a server under load and resolves to what it gave. */
export type Generate = (url: string, load: Load) => Promise<Measured>

/** wrk, where it is installed: it takes a small part of a core. Otherwise autocannon, which takes a whole one. */
export async function findGenerator(): Promise<{ name: string; generate: Generate }> {
  return (await findWrk())
    ? { name: 'wrk', generate: generateByWrk }
    : { name: 'autocannon', generate: generateByAutocannon }
}
