/**
 * How long the worst bodies hold up the service and an import: `npm run bench:hostile [megabytes...]`, by
 * default 1 and 2 MB, whose figures per MB are the same where the time is linear. The exit code is 1 if a
 * bound is exceeded.
 */
import { codecs } from '../src/catalogue/codecs.ts'
import { plantCheck } from '../src/catalogue/entry.ts'
import type { Format } from '../src/catalogue/format.ts'
import { readPortions } from '../src/catalogue/reading.ts'
import { RECORD_LIMIT } from '../src/catalogue/record-reader.ts'
import { loadContract } from '../src/contract/contract.ts'
import { parseExactJson } from '../src/contract/exact-json.ts'
import { bodyShape } from '../src/contract/shape.ts'
import { compileComponent } from '../src/contract/validation.ts'
import { type Body, csvBodies, jsonBodies, ndjsonBodies } from './hostile-bodies.ts'
import { median } from './statistics.ts'

const MB = 1e6

/** How long the event loop may be blocked, in milliseconds per MB. */
const BLOCK_LIMIT = 100

/** How many times as long as `JSON.parse` reading may take. */
const RATIO_LIMIT = 10

const ROUNDS = 5

/** Slow ones get fewer rounds: none begins after so many milliseconds. */
const ENOUGH = 2000

/** How long a round measures, in milliseconds. */
const MEASURED = 40

/** What a file stream gives at a time. */
const CHUNK = 65_536

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
  /** Undefined where there is nothing to compare it with. */
  readonly baseline?: Measure
}

const contract = loadContract()
const shape = bodyShape(contract)
const validate = compileComponent(contract, 'NewPlant')

const readHttp = synchronous((bytes) => validate(parseExactJson(bytes, shape)))
const parseWhole = synchronous((bytes) => JSON.parse(bytes.toString()))
const parseLines = synchronous((bytes) => {
  for (const line of bytes.toString().split('\n')) attempt(() => JSON.parse(line))
})

const SUBJECTS: readonly Subject[] = [
  { name: 'HTTP', bodies: jsonBodies, measure: readHttp, baseline: parseWhole },
  {
    name: 'NDJSON',
    bodies: { ...jsonBodies, ...ndjsonBodies },
    measure: reading('ndjson'),
    baseline: parseLines,
  },
  { name: 'CSV', bodies: csvBodies, measure: reading('csv') },
]

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 2]
// What V8 has seen once may make all that follows slower, so it sees everything before.
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
    for (const size of sizes) cells.push(...(await cellsOf(body(size * MB), measure, baseline)))
    print(what, cells)
  }
  print('', [])
}

async function cellsOf(bytes: Buffer, measure: Measure, baseline?: Measure): Promise<string[]> {
  const own: Figures[] = []
  const plain: Figures[] = []
  const begin = performance.now()
  for (let round = 0; round < ROUNDS && performance.now() - begin < ENOUGH; round++) {
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

/** The mean of enough readings: Linux may count processor time in steps of 4 ms. */
async function repeated(read: () => Promise<number> | number): Promise<Figures> {
  const begin = performance.now()
  const start = processorTime()
  let block = 0
  let count = 0
  do {
    block = Math.max(block, await read())
    count++
  } while (performance.now() - begin < MEASURED)
  return { time: (processorTime() - start) / count, block }
}

/** Such a reading is a block as a whole. */
function synchronous(read: (bytes: Buffer) => unknown): Measure {
  return async (bytes) => {
    const { time } = await repeated(() => {
      attempt(() => read(bytes))
      return 0
    })
    return { time, block: time }
  }
}

function reading(format: Format): Measure {
  const check = plantCheck()
  return (bytes) =>
    repeated(async () => {
      const reader = new codecs[format].Reader(check, RECORD_LIMIT)
      let last = processorTime()
      let block = 0
      const watch = () => {
        const now = processorTime()
        block = Math.max(block, now - last)
        last = now
        turn = setImmediate(watch)
      }
      let turn = setImmediate(watch)
      for await (const _portion of readPortions(chunksOf(bytes), reader));
      clearImmediate(turn)
      return Math.max(block, processorTime() - last)
    })
}

/** Milliseconds that this thread had a processor: other programs on the machine do not count. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let from = 0; from < bytes.length; from += CHUNK) yield bytes.subarray(from, from + CHUNK)
}

/** Most of it is refused. */
function attempt(read: () => unknown): void {
  try {
    read()
  } catch {}
}

function print(what: string, cells: readonly string[]): void {
  const line = what.padEnd(38) + cells.map((cell) => cell.padStart(14)).join('')
  process.stdout.write(`${line.trimEnd()}\n`)
}
