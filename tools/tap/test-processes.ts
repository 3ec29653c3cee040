/**
 * Runs test files in processes of plain Node: threads and child processes would inherit tap's loader, which takes longer
 * to load than most of them run. Many files share a process, because loading the service takes longer than most files.
 */
import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const TESTS = fileURLToPath(new URL('../../test/', import.meta.url))
const RUN_FILES = `${TESTS}processes/files.ts`
const COMPILE_CACHE = fileURLToPath(new URL('../../.tap/compile-cache', import.meta.url))

/** The limit for one process, in milliseconds: many times what it needs, because the machine can be busy. */
const TIMEOUT_MS = 1_200_000

/** The files of each process: those of a folder, of a part of a large one, or of several small ones. */
export function groupFiles(pattern: string, size: number): string[][] {
  const groups: string[][] = []
  const folders = Object.groupBy(globSync(pattern, { cwd: TESTS }).sort(), dirname)
  for (const files of Object.values(folders) as string[][]) {
    const last = groups.at(-1)
    if (last !== undefined && last.length + files.length <= size) last.push(...files)
    else {
      const length = Math.ceil(files.length / Math.ceil(files.length / size))
      for (let at = 0; at < files.length; at += length) groups.push(files.slice(at, at + length))
    }
  }
  return groups
}

/**
 * Runs all files that match, each process as a subtest.
 *
 * @param jobs how many processes run at a time: more if they mostly wait
 */
export async function runProcesses(
  t: Test,
  pattern: string,
  size: number,
  jobs: number,
): Promise<void> {
  t.jobs = jobs
  t.setTimeout(0)
  const processes = groupFiles(pattern, size).map((files) => {
    // tap adds its loader to NODE_OPTIONS.
    const line = ['-u', 'NODE_OPTIONS', process.execPath, RUN_FILES]
    const env = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, TEST_FILES: files.join(' ') }
    const name = dirname(files[0] ?? '')
    return t.spawn('env', line, { name, env, buffered: true, timeout: TIMEOUT_MS })
  })
  await Promise.all(processes)
}
