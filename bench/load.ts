import type { Ids, Kind } from './requests.ts'

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

/** How far the ids of servers that are loaded together are apart, so that they stay different. */
const APART = 1e8

/**
 * Puts several servers under one load, each under its share of the connections, and resolves to what they
 * gave together; of the times those of the slowest one.
 */
export async function generateOnAll(
  urls: readonly string[],
  load: Load,
  generate: Generate,
): Promise<Measured> {
  const each = await Promise.all(
    urls.map((url, index) => {
      const connections = Math.ceil((load.connections - index) / urls.length)
      return generate(url, { ...load, connections, first: load.first + index * APART })
    }),
  )
  const sum = (of: keyof Measured) => each.reduce((sum, measured) => sum + measured[of], 0)
  const most = (of: keyof Measured) => Math.max(...each.map((measured) => measured[of]))
  return {
    requests: sum('requests'),
    perSecond: sum('perSecond'),
    p50: most('p50'),
    p99: most('p99'),
    max: most('max'),
    failed: sum('failed'),
  }
}
