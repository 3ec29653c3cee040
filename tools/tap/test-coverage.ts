/**
 * Checks the coverage of runs that NODE_V8_COVERAGE recorded: at least 95 % of the branches, and no uncovered line that
 * test/uncovered-lines.txt does not list. With `--write`, writes that list.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const BRANCHES_MIN = 0.95
const LIST = 'test/uncovered-lines.txt'

/** Files that only run in browsers, where coverage is not measured. */
const IN_BROWSERS = ['page/list/surroundings.ts', 'page/access/tab-storage.ts', 'page/**/use-*.ts']

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

interface Report {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly Range[] }[]
  }[]
}

/** A process that was killed leaves an incomplete report, which counts as none. */
function readReport(file: string): Report['result'] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as Report).result
  } catch {
    return []
  }
}

class Source {
  readonly text: string
  /** Which characters ran in any process. */
  readonly ran: Uint8Array
  /** The start of each function and block, by its start and end. */
  readonly branches = new Map<string, number>()

  constructor(file: string) {
    this.text = readFileSync(file, 'utf8')
    this.ran = new Uint8Array(this.text.length)
  }

  /** Adds what one process ran. Ranges are nested, the outer first. */
  add(ranges: readonly Range[]): void {
    const ran = new Uint8Array(this.text.length)
    for (const { startOffset, endOffset, count } of ranges) {
      ran.fill(count > 0 ? 1 : 0, startOffset, endOffset)
      this.branches.set(`${startOffset}-${endOffset}`, startOffset)
    }
    ran.forEach((each, index) => {
      if (each === 1) this.ran[index] = 1
    })
  }

  uncoveredLines(): string[] {
    let start = 0
    return this.text.split('\n').filter((line) => {
      const ran = this.ran.subarray(start, start + line.length)
      start += line.length + 1
      const isCode = /\w/.test(line) && !/^\s*(\*|\/)/.test(line)
      return isCode && !ran.some((each, index) => each === 1 && line[index] !== ' ')
    })
  }
}

const patterns = ['bin/compile-cache.js', '{core,service,src,client,page}/**/*.ts']
const files = globSync(patterns, { exclude: ['**/*.d.ts', ...IN_BROWSERS] }).sort()
const sources = new Map(files.map((file) => [file, new Source(file)]))
const root = `file://${fileURLToPath(new URL('../..', import.meta.url))}`
for (const report of globSync(`${process.env.NODE_V8_COVERAGE}/*.json`)) {
  for (const { url, functions } of readReport(report)) {
    sources.get(url.replace(root, ''))?.add(functions.flatMap(({ ranges }) => ranges))
  }
}

const branches = [...sources.values()].flatMap(({ branches, ran }) =>
  [...branches.values()].map((start) => ran[start]),
)
const covered = branches.filter(Boolean).length / branches.length
console.log(`${(100 * covered).toFixed(2)} % of ${branches.length} branches`)
const uncovered = [...sources].flatMap(([file, source]) =>
  (source.branches.size === 0 ? ['never loaded'] : source.uncoveredLines()).map(
    (line) => `${file}: ${line.trim()}`,
  ),
)
if (process.argv.includes('--write')) writeFileSync(LIST, `${uncovered.join('\n')}\n`)
const listed = new Set(readFileSync(LIST, 'utf8').split('\n'))
const newlyUncovered = uncovered.filter((line) => !listed.has(line))
for (const line of newlyUncovered) console.log(`not covered: ${line}`)
if (covered < BRANCHES_MIN || newlyUncovered.length > 0) process.exitCode = 1
