import type { BatchKind, Ids, Kind } from './requests.ts'

export interface Load extends Ids {
  readonly kind: Kind | BatchKind
  readonly connections: number
  readonly seconds: number
}

/** A load with a warm-up, so that the code is compiled and the write-ahead log has reached its usual size. */
export interface WarmLoad extends Load {
  readonly warmUp: number
}

/** The result of a load. Times are in milliseconds. */
export interface Measured {
  readonly requests: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Responses with an error status, and requests without a response. */
  readonly failed: number
}

/** Sends a load to a server and measures it. */
export type Generate = (url: string, load: Load) => Promise<Measured>

/** Distance between the first ids of servers under the same load, so that their ids do not overlap. */
const ID_DISTANCE = 1e8

/**
 * Distributes the connections of a load over several servers. The result has the sum of their requests and the times
 * of the slowest server.
 */
export async function generateOnAll(
  urls: readonly string[],
  load: Load,
  generate: Generate,
): Promise<Measured> {
  const each = await Promise.all(
    urls.map((url, index) => {
      const connections = Math.ceil((load.connections - index) / urls.length)
      return generate(url, { ...load, connections, first: load.first + index * ID_DISTANCE })
    }),
  )
  const sum = (of: keyof Measured) => each.reduce((sum, measured) => sum + measured[of], 0)
  const max = (of: keyof Measured) => Math.max(...each.map((measured) => measured[of]))
  return {
    requests: sum('requests'),
    perSecond: sum('perSecond'),
    p50: max('p50'),
    p99: max('p99'),
    max: max('max'),
    failed: sum('failed'),
  }
}
