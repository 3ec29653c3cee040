/**
 * `npm run bench:scale [small] [large]`: compares read latency in a small and a large store, by default with ten
 * thousand and ten million plants. Requests are sent one at a time over a keep-alive connection, alternating between
 * the two services. Reports medians.
 */
import { createReadStream, statSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { median } from './statistics.ts'
import { cachedId, cachedStore, TOKEN } from './stores.ts'
import { type Server, start } from './subjects.ts'

const ROUNDS = 2000

/** The path of each read, given a random plant of the store. */
const READS: Record<string, (id: number) => string> = {
  'one plant': (id) => `/plants/${id}`,
  'a page from the start': () => '/plants',
  'a page from anywhere': (id) => `/plants?after=${id}`,
  'a page of a common tag': (id) => `/plants?tag=Tree&after=${id}`,
  'a page of a rare tag': () => '/plants?tag=Rare&limit=10',
}

interface Subject {
  readonly count: number
  readonly file: string
  readonly server: Server
  readonly agent: Agent
}

const counts = [process.argv[2] ?? '10000', process.argv[3] ?? '10000000'].map(Number)
const subjects: Subject[] = []
try {
  for (const count of counts) subjects.push(await startSubject(count))
  await report(subjects)
} finally {
  for (const { server, agent } of subjects) {
    agent.destroy()
    await server.stop()
  }
}

async function startSubject(count: number): Promise<Subject> {
  const file = await cachedStore(count)
  // Fills the operating system's cache, so that disk speed does not matter.
  for await (const _chunk of createReadStream(file));
  const server = await start('plant store', file, count)
  return { count, file, server, agent: new Agent({ keepAlive: true, maxSockets: 1 }) }
}

async function report(subjects: readonly Subject[]): Promise<void> {
  const rows = []
  for (const [what, pathOf] of Object.entries(READS)) {
    const times = subjects.map((): number[] => [])
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, subject] of subjects.entries()) {
        const id = cachedId(Math.floor(Math.random() * subject.count))
        times[index]?.push(await timeRequest(subject, pathOf(id)))
      }
    }
    const [small = 0, large = 0] = times.map(median)
    rows.push([what, ...[small, large].map((time) => `${time.toFixed(3)} ms`), ratio(large, small)])
  }
  const memory = subjects.map(({ server }) => server.peakMemory)
  const [small = 0, large = 0] = memory
  rows.push(['peak memory', ...memory.map((bytes) => `${bytes} MiB`), ratio(large, small)])
  const sizes = subjects.map(({ file }) => statSync(file).size >> 20)
  rows.push(['file', ...sizes.map((size) => `${size} MiB`), ''])
  for (const row of [['', ...counts.map(String), 'ratio'], ...rows]) {
    console.log(row.map((cell, column) => cell.padEnd(column === 0 ? 24 : 12)).join(''))
  }
}

function ratio(large: number, small: number): string {
  return (large / small).toFixed(2)
}

function timeRequest({ server: { url }, agent }: Subject, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    const headers = { authorization: `Bearer ${TOKEN}` }
    get(url + path, { agent, headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode !== 200) reject(new Error(`${response.statusCode} for ${path}`))
        else resolve(performance.now() - begin)
      })
    }).on('error', reject)
  })
}
