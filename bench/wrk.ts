import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Load, Measured } from './load.ts'
import { requestsOf } from './requests.ts'
import { TOKEN } from './stores.ts'

const run = promisify(execFile)

/** Whether wrk is installed. */
export async function findWrk(): Promise<boolean> {
  // Without arguments wrk prints its usage and fails. A missing program prints nothing.
  const usage = await run('wrk').catch(({ stdout }) => stdout)
  return Boolean(usage)
}

/** Sends a load with wrk, which reports times in microseconds. */
export async function generateByWrk(url: string, load: Load): Promise<Measured> {
  const script = fileURLToPath(new URL('./requests.lua', import.meta.url))
  const size = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '10s']
  const templates = requestsOf(load.kind).flatMap(({ method, path, body, ids, batch = 0 }) => [
    method,
    path,
    body,
    ids,
    String(batch),
  ])
  const ids = [load.first, load.stored, load.step ?? 1].map(String)
  const args = [TOKEN, ...ids, ...templates]
  const { stdout } = await run('wrk', [...size, '-s', script, url, '--', ...args])
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
