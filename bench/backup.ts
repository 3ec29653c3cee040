/**
 * `npm run bench:backup [plants]`: latency of creates with random ids over 32 connections, while nothing else runs, and
 * while the database is copied and the copy is verified: at the default rate of `backup --every`, and without a limit.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { backUpDatabase } from '../src/stores/sqlite/backup.ts'
import { makePlant } from './requests.ts'
import { makeStore, TOKEN } from './stores.ts'
import { type Server, serviceCommand, startServer } from './subjects.ts'

const CLIENTS = 32
const ALONE_MS = 6000
const RATES = { '50 MB/s': 50_000_000, unlimited: undefined }

/** The latencies of each phase in milliseconds. */
const latencies = new Map<string, number[]>()
const durations = new Map<string, number>()
let phase = 'warm-up'
let since = performance.now()

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-backup-'))
const database = join(folder, 'plants.db')
try {
  await makeStore(database, Number(process.argv[2] ?? 2_000_000), (index) =>
    makePlant(BigInt(index + 1)),
  )
  const server = await startServer(serviceCommand(database), join(folder, 'log'))
  try {
    await measure(server)
  } finally {
    await server.stop()
  }
} finally {
  rmSync(folder, { recursive: true })
}
report()

async function measure(server: Server): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  let isDone = false
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isDone) await create(server, agent)
  })
  since = performance.now()
  await setTimeout(ALONE_MS)
  for (const [rate, bytesPerSecond] of Object.entries(RATES)) {
    enter(`before ${rate}`)
    await setTimeout(ALONE_MS)
    const file = join(folder, 'copy.db')
    const { signal } = new AbortController()
    const onProgress = (copied: number, total: number) => {
      if (copied === total) enter(`${rate}: verify`)
    }
    enter(`${rate}: copy`)
    await backUpDatabase({ database, lockTimeout: 5000, file, signal, bytesPerSecond, onProgress })
    enter('between')
    rmSync(file)
    console.log(`log after ${rate}: ${statSync(`${database}-wal`).size >> 20} MiB`)
  }
  isDone = true
  await Promise.all(clients)
  agent.destroy()
}

function enter(next: string): void {
  durations.set(phase, performance.now() - since)
  since = performance.now()
  phase = next
}

function create({ url }: Server, agent: Agent): Promise<void> {
  const body = `{"id":${randomBytes(8).readBigInt64BE()},"name":"Abies alba Mill.","tag":"Tree"}`
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const start = performance.now()
  const during = latencies.get(phase) ?? []
  latencies.set(phase, during)
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/plants`, { agent, method: 'POST', headers }, (response) => {
      response.resume().on('end', () => {
        during.push(performance.now() - start)
        if (response.statusCode === 200) resolve()
        else reject(new Error(`${response.statusCode} for a create`))
      })
    })
    outgoing.on('error', reject).end(body)
  })
}

function report(): void {
  for (const [name, times] of latencies) {
    const seconds = (durations.get(name) ?? 0) / 1000
    times.sort((a, b) => a - b)
    const percentile = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1)
    const rate = Math.round(times.length / seconds)
    console.log(
      `${name.padEnd(20)} ${seconds.toFixed(1)} s, ${rate} creates/s, p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`,
    )
  }
}
