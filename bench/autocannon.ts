import type { Request } from 'autocannon'
import type { Load, Measured } from './load.ts'
import { createIdSources, fillIn, requestsOf, type Template } from './requests.ts'
import { TOKEN } from './stores.ts'

/** Sends a load with autocannon, in this process. */
export async function generateByAutocannon(url: string, load: Load): Promise<Measured> {
  // Loaded on demand, because it is not needed when wrk is installed.
  const { default: autocannon } = await import('autocannon')
  const { connections, seconds } = load
  const requests = createRequests(load)
  const result = await autocannon({ url, connections, duration: seconds, requests })
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
function createRequests(load: Load): Request[] {
  const ids = createIdSources(load)
  let count = 0
  const authorization = `Bearer ${TOKEN}`
  const read = { authorization }
  const write = { authorization, 'content-type': 'application/json' }
  return requestsOf(load.kind).map((template: Template) => ({
    method: template.method,
    path: template.path,
    headers: template.body === '' ? read : write,
    setupRequest(request: Request): Request {
      const { path, body } = fillIn(template, ids, count++)
      return body === '' ? { ...request, path } : { ...request, path, body }
    },
  }))
}
