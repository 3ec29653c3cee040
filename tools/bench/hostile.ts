/**
 * Measures how long the most expensive bodies block the service: `npm run bench:hostile [megabytes...]`, by default 1
 * and 2 MB. If the time is linear, the figures per MB are the same for all sizes. The exit code is 1 if a limit is
 * exceeded.
 */

import { loadContract, plantMembers } from '../../core/contract/contract.ts'
import { compileComponent } from '../../core/contract/validators.ts'
import { prepareParser } from '../../core/json/exact-json.ts'
import { median } from './figures/statistics.ts'
import { jsonBodies } from './load/hostile-bodies.ts'

const MB = 1e6

/** How long the event loop can be blocked, in milliseconds per MB. */
const BLOCK_LIMIT = 100

/** The maximum time relative to `JSON.parse`. */
const RATIO_LIMIT = 10

const ROUNDS = 5

/** No further round starts after this time. */
const ROUNDS_MAX_MS = 2000

const ROUND_MS = 40

/** Returns the milliseconds that a body takes. */
type Measure = (bytes: Buffer) => number

const contract = loadContract()
const parsePlant = prepareParser(plantMembers(contract))
const validate = compileComponent(contract, 'NewPlant')

const readBody = repeat((bytes) => validate(parsePlant(bytes)))
const parseBody = repeat((bytes) => JSON.parse(bytes.toString()))

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 2]
// Some input makes V8 slower from then on, so run everything once before measuring.
for (const body of Object.values(jsonBodies)) readBody(body(MB / 10))
print(
  '',
  sizes.flatMap((size) => [`${size} MB: ms/MB`, 'ratio']),
)
for (const [what, body] of Object.entries(jsonBodies)) {
  print(
    what,
    sizes.flatMap((size) => measureCells(body(size * MB))),
  )
}

function measureCells(bytes: Buffer): string[] {
  const own: number[] = []
  const plain: number[] = []
  const begin = performance.now()
  for (let round = 0; round < ROUNDS && performance.now() - begin < ROUNDS_MAX_MS; round++) {
    own.push(readBody(bytes))
    plain.push(parseBody(bytes))
  }
  const perMegabyte = median(own) / (bytes.length / MB)
  const ratio = median(own) / median(plain)
  const exceeded = perMegabyte > BLOCK_LIMIT || ratio > RATIO_LIMIT
  if (exceeded) process.exitCode = 1
  return [perMegabyte.toFixed(1), `${ratio.toFixed(1)}${exceeded ? ' !' : ''}`]
}

/** Measures the mean of several runs, because Linux may count CPU time in steps of 4 ms. */
function repeat(read: (bytes: Buffer) => unknown): Measure {
  return (bytes) => {
    const begin = performance.now()
    const start = cpuTimeMs()
    let count = 0
    do {
      attempt(() => read(bytes))
      count++
    } while (performance.now() - begin < ROUND_MS)
    return (cpuTimeMs() - start) / count
  }
}

/** CPU time of this thread in milliseconds, so that other programs do not count. */
function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
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
