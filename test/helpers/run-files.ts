/**
 * Runs several test files in one process. Starting a process and loading the service takes about a second of processor
 * time, more than most files need for their tests.
 *
 * In such a process, the `t` that a file imports from tap is a test of its own, so its hooks and teardowns apply to that
 * file alone.
 */
import './without-domains.ts'
import { registerHooks } from 'node:module'
import t, { type Test } from 'tap'
import { doThreadsMeasure } from '../../scripts/test-processes.ts'
import { measureThreads } from './coverage.ts'
import { shareContracts } from './shared-contracts.ts'

const FILE_TEST = new URL('./file-test.ts', import.meta.url).href

/** Limit for one file, in milliseconds. tap's own limit is for the whole process. */
const FILE_TIMEOUT_MS = 300_000

const tests = new Map<string, Test>()

/** The test of a file that runFiles() imports, by the URL of the file. */
export function testOf(file: string): Test {
  const test = tests.get(file)
  if (test === undefined) throw new Error(`not a test file of this process: ${file}`)
  return test
}

/** Runs test files one after the other, each as a subtest. The paths are relative to test/. */
export async function runFiles(files: readonly string[]): Promise<void> {
  await shareContracts()
  const urls = new Map(files.map((file) => [new URL(`../${file}`, import.meta.url).href, file]))
  registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === 'tap' && urls.has(String(context.parentURL))
        ? { url: `${FILE_TEST}?${context.parentURL}`, shortCircuit: true }
        : nextResolve(specifier, context),
  })
  for (const [url, file] of urls) {
    t.setTimeout(FILE_TIMEOUT_MS)
    await t.test(file, async (t) => {
      tests.set(url, t)
      measureThreads(doThreadsMeasure(file))
      await import(url)
    })
  }
}
