import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Request } from 'autocannon'
import { createIdSources, FIRST_ID, fillIn, type Ids, type Template } from './request-kinds.ts'

export interface Load extends Ids {
  /** Sent in rotation. */
  readonly requests: readonly Template[]
  readonly connections: number
  readonly seconds: number
}

export interface Target {
  readonly url: string
  readonly token: string
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
export type Generate = (target: Target, load: Load) => Promise<Measured>

/** Picks wrk if it is installed, because it uses a fraction of a core. autocannon uses a whole one. */
export async function findGenerator(): Promise<{ name: string; generate: Generate }> {
  // Without arguments wrk prints its usage and fails. A missing program prints nothing.
  const usage = await run('wrk').catch(({ stdout }) => stdout)
  return usage
    ? { name: 'wrk', generate: generateByWrk }
    : { name: 'autocannon', generate: generateByAutocannon }
}

/** Distance between the first ids of servers under the same load, so that their ids do not overlap. */
const ID_DISTANCE = 1e8

/**
 * Distributes the connections of a load over several servers. The result has the sum of their requests and the times
 * of the slowest server.
 */
export async function generateOnAll(
  targets: readonly Target[],
  load: Load,
  generate: Generate,
): Promise<Measured> {
  const each = await Promise.all(
    targets.map((target, index) => {
      const connections = Math.ceil((load.connections - index) / targets.length)
      return generate(target, { ...load, connections, first: load.first + index * ID_DISTANCE })
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

const run = promisify(execFile)

/** wrk reports times in microseconds. */
async function generateByWrk({ url, token }: Target, load: Load): Promise<Measured> {
  const script = fileURLToPath(new URL('./request-kinds.lua', import.meta.url))
  const size = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '10s']
  const templates = load.requests.flatMap(({ method, path, body, ids, batch = 0 }) => [
    method,
    path,
    body,
    ids,
    String(batch),
  ])
  const ids = [load.first, FIRST_ID, load.stored].map(String)
  const { stdout } = await run('wrk', [
    ...size,
    '-s',
    script,
    url,
    '--',
    token,
    ...ids,
    ...templates,
  ])
  const result = JSON.parse(/^RESULT (.*)$/m.exec(stdout)?.[1] ?? '{}')
  return {
    requests: result.requests,
    perSecond: result.requests / (result.microseconds / 1e6),
    p50: result.p50 / 1000,
    p99: result.p99 / 1000,
    max: result.max / 1000,
    failed: result.failed,
  }
}

/** autocannon runs in this process. */
async function generateByAutocannon(target: Target, load: Load): Promise<Measured> {
  // Loaded on demand, because it is not needed when wrk is installed.
  const { default: autocannon } = await import('autocannon')
  const { connections, seconds } = load
  const requests = createRequests(target.token, load)
  const result = await autocannon({ url: target.url, connections, duration: seconds, requests })
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    max: result.latency.max,
    failed: result.non2xx + result.errors,
  }
}

/** The requests of each connection, in order. All connections share one counter, so that ids are unique. */
function createRequests(token: string, load: Load): Request[] {
  const ids = createIdSources(load)
  let count = 0
  const read = { authorization: `Bearer ${token}` }
  const write = { ...read, 'content-type': 'application/json' }
  return load.requests.map((template: Template) => ({
    method: template.method,
    path: template.path,
    headers: template.body === '' ? read : write,
    setupRequest(request: Request): Request {
      const { path, body } = fillIn(template, ids, count++)
      return body === '' ? { ...request, path } : { ...request, path, body }
    },
  }))
}
