import { posix } from 'node:path'
import { apply } from './edit.ts'
import type { Mutant } from './mutant.ts'
import { findBlockAround, findBlocks } from './probes.ts'
import type { Reach } from './reach.ts'
import { runTest } from './test-run.ts'
import type { Workspace } from './workspace.ts'

export type Verdict = 'killed' | 'timeout' | 'survived' | 'not covered' | 'equivalent'

export interface Judgement {
  readonly mutant: Mutant
  readonly verdict: Verdict
  /** The test that killed the mutant, if any. */
  readonly test?: string
  /** The number of test files that ran. */
  readonly tests: number
  readonly durationMs: number
  /** Why the mutant is equivalent. */
  readonly reason?: string
}

/** A test times out after this multiple of its usual duration, plus an allowance for a busy machine. */
const TIMEOUT_FACTOR = 4
const TIMEOUT_ALLOWANCE_MS = 15_000

/** Once this many tests have passed, a failure may be a flaky test, so that test is retried once. */
const RETRY_AFTER_TESTS = 3

/** Tests mutants, and tries first the tests that are most likely to kill them quickly. */
export class Judge {
  readonly #reaches: readonly Reach[]
  /** The tests that have killed a mutant, by file. */
  readonly #killers = new Map<string, Set<string>>()

  constructor(reaches: readonly Reach[]) {
    this.#reaches = reaches
  }

  /** Runs the tests that reach the mutant until one of them fails. */
  async judge(workspace: Workspace, mutant: Mutant, signal: AbortSignal): Promise<Judgement> {
    const { file } = mutant
    const text = workspace.read(file)
    const reaches = this.#prioritize(mutant, text)
    if (reaches.length === 0) return { mutant, verdict: 'not covered', tests: 0, durationMs: 0 }
    const start = performance.now()
    const result = (verdict: Verdict, tests: number, test?: string): Judgement => {
      const durationMs = performance.now() - start
      return { mutant, verdict, tests, durationMs, ...(test !== undefined && { test }) }
    }
    workspace.change(file, apply(text, mutant))
    try {
      for (const [index, { test, durationMs }] of reaches.entries()) {
        const timeoutMs = TIMEOUT_FACTOR * durationMs + TIMEOUT_ALLOWANCE_MS
        const run = async () => (await runTest(workspace, test, timeoutMs, signal)).outcome
        let outcome = await run()
        if (outcome !== 'passed' && index >= RETRY_AFTER_TESTS) outcome = await run()
        if (outcome === 'passed') continue
        this.#killers.set(file, (this.#killers.get(file) ?? new Set()).add(test))
        return result(outcome === 'timeout' ? 'timeout' : 'killed', index + 1, test)
      }
      return result('survived', reaches.length)
    } finally {
      workspace.restore(file)
    }
  }

  #prioritize(mutant: Mutant, text: string): Reach[] {
    const { start } = findBlockAround(findBlocks(text), mutant)
    const noticed = this.#killers.get(mutant.file)
    const cost = ({ test, durationMs }: Reach) =>
      durationMs / closeness(test, mutant.file) / (noticed?.has(test) ? 4 : 1)
    return this.#reaches
      .filter(({ blocks, isPartial }) => {
        const reached = blocks[mutant.file]
        return reached !== undefined && (isPartial || reached.includes(start))
      })
      .toSorted((one, other) => cost(one) - cost(other))
  }
}

/** How closely a test is related to a file, judging by their names: from 1 (unrelated) to 16 (the same name). */
export function closeness(test: string, file: string): number {
  const [testName, fileName] = [posix.basename(test, '.test.ts'), posix.basename(file, '.ts')]
  if (testName === fileName) return 16
  const sameFolder =
    posix.dirname(test).replace(/^test\/?/, '') === posix.dirname(file).replace(/^src\/?/, '')
  const related = testName.includes(fileName) || fileName.includes(testName)
  return (sameFolder ? 4 : 1) * (related ? 2 : 1)
}
