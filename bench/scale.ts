/**
 * What reads cost in a small store and in a large one: `npm run bench:scale [small] [large]`, by default
 * 10 thousand and 10 million plants. One request at a time over a kept connection, to the real service as
 * a process of its own; medians of many rounds in which the two stores take turns.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SqliteStore } from '../src/stores/sqlite/sqlite-store.ts'

const TOKEN = 'a-token-for-the-benchmark'
const ROUNDS = 2000
const BATCH = 10_000

/** One plant in so many has the rare tag. */
const RARE = 1000
const TAGS = ['Tree', 'Shrub', 'Forb/herb', 'Graminoid', 'Vine']

/** What is read, given a random plant of the store. */
const READS: Record<string, (id: number) => string> = {
  'one plant': (id) => `/plants/${id}`,
  'a page from the start': () => '/plants',
  'a page from anywhere': (id) => `/plants?after=${id}`,
  'a page of a common tag': (id) => `/plants?tag=Tree&after=${id}`,
  'a page of a rare tag': () => '/plants?tag=Rare&limit=10',
}

interface Subject {
  readonly count: number
  readonly url: string
  readonly process: ChildProcess
  readonly agent: Agent
}

const counts = [process.argv[2] ?? '10000', process.argv[3] ?? '10000000'].map(Number)
const folder = join(tmpdir(), 'plant-store-scale')
await mkdir(folder, { recursive: true })
const subjects = await Promise.all(counts.map(start))
try {
  await report(subjects)
} finally {
  for (const { process, agent } of subjects) {
    agent.destroy()
    process.kill()
  }
}

async function start(count: number): Promise<Subject> {
  const file = join(folder, `${count}.db`)
  if (!existsSync(file)) await fill(file, count)
  // Into the operating system's cache: what a disk adds is the disk's.
  for await (const _chunk of createReadStream(file));
  const main = new URL('../src/main.ts', import.meta.url).pathname
  const args = ['--port', '0', '--database', file, '--log-level', 'error']
  const env = { ...process.env, PLANT_STORE_TOKEN: TOKEN }
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 2] })
  let said = ''
  while (!said.includes('\n'))
    said += (await once(child.stdout as NodeJS.ReadableStream, 'data'))[0]
  const url = /listens on (\S+)/.exec(said)?.[1] as string
  return { count, url, process: child, agent: new Agent({ keepAlive: true, maxSockets: 1 }) }
}

/** Ids with gaps, so that most of them have more than four digits in either store. */
function idOf(index: number): number {
  return index * 37
}

async function fill(file: string, count: number): Promise<void> {
  console.log(`making a store of ${count} plants in ${folder}`)
  const names = readFileSync(new URL('../data/sample.csv', import.meta.url), 'utf8').split('\n')
  const store = new SqliteStore({ file, lockTimeout: 5000 })
  for (let from = 0; from < count; from += BATCH) {
    const plants = Array.from({ length: Math.min(BATCH, count - from) }, (_, offset) => {
      const index = from + offset
      const name = `${names[index % names.length]} ${index}`
      const tag = index % RARE === 0 ? 'Rare' : TAGS[index % TAGS.length]
      return { id: BigInt(idOf(index)), name, ...(tag && { tag }) }
    })
    await store.importPlants(plants, 'stop')
  }
  await store.close()
}

async function report(subjects: readonly Subject[]): Promise<void> {
  const rows = []
  for (const [what, pathOf] of Object.entries(READS)) {
    const times = subjects.map((): number[] => [])
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, subject] of subjects.entries()) {
        const id = idOf(Math.floor(Math.random() * subject.count))
        times[index]?.push(await timed(subject, pathOf(id)))
      }
    }
    const [small = 0, large = 0] = times.map(median)
    rows.push([what, ...[small, large].map((time) => `${time.toFixed(3)} ms`), ratio(large, small)])
  }
  const memory = subjects.map(({ process }) => peakMemory(process.pid as number))
  const [small = 0, large = 0] = memory
  rows.push(['peak memory', ...memory.map((bytes) => `${bytes} MiB`), ratio(large, small)])
  const sizes = counts.map((count) => statSync(join(folder, `${count}.db`)).size >> 20)
  rows.push(['file', ...sizes.map((size) => `${size} MiB`), ''])
  for (const row of [['', ...counts.map(String), 'ratio'], ...rows]) {
    console.log(row.map((cell, column) => cell.padEnd(column === 0 ? 24 : 12)).join(''))
  }
}

function ratio(large: number, small: number): string {
  return (large / small).toFixed(2)
}

function timed({ url, agent }: Subject, path: string): Promise<number> {
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

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}

/** In MiB; where there is /proc, otherwise nothing. */
function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmHWM:\s*(\d+)/.exec(status)?.[1]) / 1024)
}
