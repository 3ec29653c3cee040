/**
 * Measures how long the most expensive bodies block the service and an import: `npm run bench:hostile [megabytes...]`,
 * by default 1 and 2 MB. If the time is linear, the figures per MB are the same for all sizes. The exit code is 1 if a
 * limit is exceeded.
 */

import { loadContract } from '../contract/contract.ts'
import { parseExactJson } from '../contract/exact-json.ts'
import { compileComponent } from '../contract/validation.ts'
import { codecs } from '../src/transfer/codecs.ts'
import type { Format } from '../src/transfer/format.ts'
import { RECORD_LIMIT_BYTES } from '../src/transfer/record-reader.ts'
import { readRecords } from '../src/transfer/record-stream.ts'
import { recordValidator } from '../src/transfer/record-validator.ts'
import { type Body, csvBodies, jsonBodies, ndjsonBodies } from './hostile-bodies.ts'
import { median } from './statistics.ts'

const MB = 1e6

/** How long the event loop can be blocked, in milliseconds per MB. */
const BLOCK_LIMIT = 100

/** The maximum time relative to `JSON.parse`. */
const RATIO_LIMIT = 10

const ROUNDS = 5

/** No further round starts after this time. */
const ROUNDS_MAX_MS = 2000

const ROUND_MS = 40

/** Chunk size of a file stream. */
const CHUNK_BYTES = 65_536

interface Figures {
  /** Milliseconds. */
  readonly time: number
  /** The longest that the event loop was blocked, in milliseconds. */
  readonly block: number
}

type Measure = (bytes: Buffer) => Promise<Figures>

interface Subject {
  readonly name: string
  readonly bodies: Readonly<Record<string, Body>>
  readonly measure: Measure
  /** Undefined if there is nothing to compare with. */
  readonly baseline?: Measure
}

const contract = loadContract()
const validate = compileComponent(contract, 'NewPlant')

const readHttp = measureSynchronous((bytes) => validate(parseExactJson(bytes)))
const parseWhole = measureSynchronous((bytes) => JSON.parse(bytes.toString()))
const parseLines = measureSynchronous((bytes) => {
  for (const line of bytes.toString().split('\n')) attempt(() => JSON.parse(line))
})

const SUBJECTS: readonly Subject[] = [
  { name: 'HTTP', bodies: jsonBodies, measure: readHttp, baseline: parseWhole },
  {
    name: 'NDJSON',
    bodies: { ...jsonBodies, ...ndjsonBodies },
    measure: measureReading('ndjson'),
    baseline: parseLines,
  },
  { name: 'CSV', bodies: csvBodies, measure: measureReading('csv') },
]

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 2]
// Some input makes V8 slower from then on, so run everything once before measuring.
for (const { bodies, measure } of SUBJECTS) {
  for (const body of Object.values(bodies)) await measure(body(MB / 10))
}
for (const { name, bodies, measure, baseline } of SUBJECTS) {
  print(
    name,
    sizes.flatMap((size) => [`${size} MB: ms/MB`, 'ratio', 'block ms']),
  )
  for (const [what, body] of Object.entries(bodies)) {
    const cells: string[] = []
    for (const size of sizes)
      cells.push(...(await measureCells(body(size * MB), measure, baseline)))
    print(what, cells)
  }
  print('', [])
}

async function measureCells(
  bytes: Buffer,
  measure: Measure,
  baseline?: Measure,
): Promise<string[]> {
  const own: Figures[] = []
  const plain: Figures[] = []
  const begin = performance.now()
  for (let round = 0; round < ROUNDS && performance.now() - begin < ROUNDS_MAX_MS; round++) {
    own.push(await measure(bytes))
    if (baseline !== undefined) plain.push(await baseline(bytes))
  }
  const megabytes = bytes.length / MB
  const time = median(own.map((each) => each.time))
  const block = median(own.map((each) => each.block))
  const ratio = time / median(plain.map((each) => each.time))
  const exceeded = block / megabytes > BLOCK_LIMIT || ratio > RATIO_LIMIT
  if (exceeded) process.exitCode = 1
  return [
    (time / megabytes).toFixed(1),
    Number.isNaN(ratio) ? '' : ratio.toFixed(1),
    `${block.toFixed(1)}${exceeded ? ' !' : ''}`,
  ]
}

/** Measures the mean of several runs, because Linux may count CPU time in steps of 4 ms. */
async function repeat(read: () => Promise<number> | number): Promise<Figures> {
  const begin = performance.now()
  const start = cpuTimeMs()
  let block = 0
  let count = 0
  do {
    block = Math.max(block, await read())
    count++
  } while (performance.now() - begin < ROUND_MS)
  return { time: (cpuTimeMs() - start) / count, block }
}

/** A synchronous run blocks the event loop for its whole duration. */
function measureSynchronous(read: (bytes: Buffer) => unknown): Measure {
  return async (bytes) => {
    const { time } = await repeat(() => {
      attempt(() => read(bytes))
      return 0
    })
    return { time, block: time }
  }
}

function measureReading(format: Format): Measure {
  const validateRecord = recordValidator()
  return (bytes) =>
    repeat(async () => {
      const reader = new codecs[format].Reader(validateRecord, RECORD_LIMIT_BYTES)
      let last = cpuTimeMs()
      let block = 0
      const watch = () => {
        const now = cpuTimeMs()
        block = Math.max(block, now - last)
        last = now
        turn = setImmediate(watch)
      }
      let turn = setImmediate(watch)
      // A header with unknown columns ends the import.
      await Array.fromAsync(readRecords(splitIntoChunks(bytes), reader), () => {}).catch(() => {})
      clearImmediate(turn)
      return Math.max(block, cpuTimeMs() - last)
    })
}

/** CPU time of this thread in milliseconds, so that other programs do not count. */
function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function* splitIntoChunks(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
    yield bytes.subarray(from, from + CHUNK_BYTES)
}

/** Ignores failures, because most input is invalid. */
function attempt(read: () => unknown): void {
  try {
    read()
  } catch {}
}

function print(what: string, cells: readonly string[]): void {
  const line = what.padEnd(38) + cells.map((cell) => cell.padStart(14)).join('')
  process.stdout.write(`${line.trimEnd()}\n`)
}
