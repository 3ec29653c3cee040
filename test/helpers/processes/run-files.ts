/**
 * Runs several test files in one process. The `t` that a file imports from tap is a test of its own, so its hooks and
 * teardowns apply to that file alone.
 */
import { registerHooks } from 'node:module'
import type { Test } from 'tap'

const FILE_TEST = new URL('./file-test.ts', import.meta.url).href

/** Limit for one file, in milliseconds: many times what it needs, because the machine can be busy. */
const FILE_TIMEOUT_MS = 600_000

const tests = new Map<string, Test>()

/** The test of a file that runFiles() imports, by the URL of the file. */
export function testOf(file: string): Test {
  const test = tests.get(file)
  if (test === undefined) throw new Error(`not a test file of this process: ${file}`)
  return test
}

/** Runs test files one after the other, each as a subtest. The paths are relative to test/. */
export async function runFiles(parent: Test, files: readonly string[]): Promise<void> {
  const urls = new Map(files.map((file) => [new URL(`../../${file}`, import.meta.url).href, file]))
  registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === 'tap' && urls.has(String(context.parentURL))
        ? { url: `${FILE_TEST}?${context.parentURL}`, shortCircuit: true }
        : nextResolve(specifier, context),
  })
  for (const [url, file] of urls) {
    parent.setTimeout(FILE_TIMEOUT_MS)
    await parent.test(file, async (t) => {
      tests.set(url, t)
      await import(url)
    })
  }
}
