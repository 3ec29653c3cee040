/** Records which blocks of code each test reaches, and how long it takes. Caches the results between runs, per test. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { instrument, PROBE_FILE, probeSource } from './probes.ts'
import { runTest } from './test-run.ts'
import type { Workspace } from './workspace.ts'

export interface Reach {
  readonly test: string
  readonly durationMs: number
  /** The starts of the blocks that the test reaches, by file. */
  readonly blocks: Readonly<Record<string, readonly number[]>>
  /** Whether the test may reach more, because it failed with probes: code sent to a browser cannot contain them. */
  readonly isPartial: boolean
}

/** A test that fails on the original sources, so its result says nothing about a mutant. */
export interface FailingTest {
  readonly test: string
  readonly output: string
}

interface CachedReach extends Reach {
  /** A hash of the test, its helpers and the files that it reaches. */
  readonly hash: string
}

/** Twice what `npm test` allows. */
const TIMEOUT_MS = 240_000

const RECORDS = '.records'

export class ReachRecorder {
  readonly #folder: string
  readonly #files: readonly string[]
  readonly #sources: readonly string[]
  readonly #instrumented = new Map<string, string>()

  /**
   * @param folder where to cache the results
   * @param files all files of the project
   * @param sources the files that are mutated
   */
  constructor(folder: string, files: readonly string[], sources: readonly string[]) {
    this.#folder = folder
    this.#files = files
    this.#sources = sources
  }

  /** The cached result of a test; undefined if there is none or something that the test depends on has changed. */
  findCached(workspace: Workspace, test: string): Reach | undefined {
    const file = this.#cacheFile(test)
    if (!existsSync(file)) return undefined
    const record = JSON.parse(readFileSync(file, 'utf8')) as CachedReach
    return record.hash === this.#hash(workspace, record) ? record : undefined
  }

  /** Runs a test with probes. If it fails, runs it again without them. */
  async record(
    workspace: Workspace,
    test: string,
    signal: AbortSignal,
  ): Promise<Reach | FailingTest> {
    const probed = await this.#runProbed(workspace, test, signal)
    const blocks = readBlocks(workspace)
    let run = probed
    if (probed.outcome !== 'passed') run = await runTest(workspace, test, TIMEOUT_MS, signal)
    if (run.outcome !== 'passed') return { test, output: run.output }
    const isPartial = run !== probed
    const reach: Reach = { test, durationMs: Math.round(run.durationMs), blocks, isPartial }
    const record: CachedReach = { ...reach, hash: this.#hash(workspace, reach) }
    const file = this.#cacheFile(test)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify(record))
    return reach
  }

  async #runProbed(workspace: Workspace, test: string, signal: AbortSignal) {
    const records = join(workspace.folder, RECORDS)
    rmSync(records, { force: true })
    workspace.write(PROBE_FILE, probeSource(records))
    for (const file of this.#sources) workspace.change(file, this.#instrument(workspace, file))
    try {
      return await runTest(workspace, test, TIMEOUT_MS, signal)
    } finally {
      for (const file of this.#sources) workspace.restore(file)
      rmSync(join(workspace.folder, PROBE_FILE), { force: true })
    }
  }

  /** Cached, because parsing all sources takes as long as a short test. */
  #instrument(workspace: Workspace, file: string): string {
    const probe = join(workspace.folder, PROBE_FILE)
    const key = join(workspace.folder, file)
    const code = this.#instrumented.get(key) ?? instrument(workspace.read(file), file, probe)
    this.#instrumented.set(key, code)
    return code
  }

  #cacheFile(test: string): string {
    return join(this.#folder, `${test}.json`)
  }

  #hash(workspace: Workspace, { test, blocks }: Reach): string {
    const isHelper = (file: string) => file.startsWith('test/') && !file.endsWith('.test.ts')
    const relevant = [test, ...Object.keys(blocks).toSorted(), ...this.#files.filter(isHelper)]
    const hash = createHash('sha256')
    for (const file of relevant) {
      const exists = existsSync(join(workspace.folder, file))
      hash.update(`${file}\0${exists ? workspace.read(file) : ''}\0`)
    }
    return hash.digest('hex')
  }
}

function readBlocks(workspace: Workspace): Record<string, number[]> {
  if (!existsSync(join(workspace.folder, RECORDS))) return {}
  const blocks: Record<string, number[]> = {}
  for (const line of new Set(workspace.read(RECORDS).split('\n'))) {
    const [file, start] = line.split(' ')
    if (file === undefined || start === undefined) continue
    blocks[file] = [...(blocks[file] ?? []), Number(start)]
  }
  return blocks
}
