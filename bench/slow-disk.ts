/**
 * Measures health checks and point reads while 64 connections create plants, on this disk and on one with a slower
 * fsync. Needs Linux and a C compiler: node bench/slow-disk.ts [seconds] [milliseconds added to fsync]
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { checkStored } from './answers.ts'
import { findGenerator } from './generator.ts'
import { watchProcessors } from './machine.ts'
import { makePlant } from './requests.ts'
import { compileSlowFsync, startSlowly } from './slow-fsync.ts'
import { percent } from './statistics.ts'
import { makeStore, TOKEN } from './stores.ts'
import { start } from './subjects.ts'

/** Pause between two timed requests, so that they add no load. */
const PAUSE_MS = 5

const [seconds = 10, slowness = 20] = process.argv.slice(2).map(Number)
const headers = { authorization: `Bearer ${TOKEN}` }
const { name: generatorName, generate } = await findGenerator()
const folder = mkdtempSync(join(tmpdir(), 'plant-store-slow-disk-'))
try {
  const library = compileSlowFsync(folder)
  console.log(`64 connections create for ${seconds} s, sent by ${generatorName}; times in ms`)
  for (const milliseconds of [0, slowness]) await report(library, milliseconds)
} finally {
  rmSync(folder, { recursive: true })
}

async function report(library: string, milliseconds: number): Promise<void> {
  const file = join(folder, `${milliseconds}.db`)
  await makeStore(file, 1, () => makePlant(1n))
  const server = await startSlowly(library, milliseconds, () => start('plant store', file, 0))
  try {
    const over = new AbortController()
    const shares = watchProcessors({ servers: [server.pid] })
    const load = { kind: 'sequential', connections: 64, seconds, first: 1000, stored: 1 } as const
    // Started first, because spawning a process blocks this one.
    const creating = generate(server.url, load).finally(() => over.abort())
    const probing = ['/health/live', '/plants/1'].map((path) =>
      probe(server.url, path, over.signal),
    )
    const [created, live, read] = await Promise.all([creating, ...probing] as const)
    const busy = `other programs used ${percent(shares().others)} of the processors`
    checkStored(file, created.requests - created.failed)
    const creates = `${Math.round(created.perSecond)} creates/s, ${created.failed} failed`
    console.log(`\nfsync + ${milliseconds} ms: ${creates}; ${busy}`)
    print('create', created)
    print('/health/live', quantiles(live ?? []))
    print('/plants/{id}', quantiles(read ?? []))
  } finally {
    await server.stop()
  }
}

/** The latencies of consecutive requests until `over`, in milliseconds. */
async function probe(url: string, path: string, over: AbortSignal): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  while (!over.aborted) {
    const begin = performance.now()
    const [response] = await once(get(url + path, { agent, headers }), 'response')
    await once(response.resume(), 'end')
    times.push(performance.now() - begin)
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} for ${path}`)
    await setTimeout(PAUSE_MS)
  }
  agent.destroy()
  return times
}

interface Quantiles {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

function quantiles(times: readonly number[]): Quantiles {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

function print(what: string, { p50, p99, max }: Quantiles): void {
  const figures = { p50, p99, max }
  const cells = Object.entries(figures).map(([name, time]) => `${name} ${time.toFixed(1)}`)
  console.log([what, ...cells].map((cell) => cell.padEnd(14)).join(''))
}
