/**
 * Defines which test files share a process: `*.test.ts` in `npm test`, `*.system.ts` in `npm run test:system`. Each
 * process has a file in test/processes/.
 */
import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Test files that run in a process of their own. */
export const ALONE: readonly string[] = [
  // Turns on the compile cache, which makes coverage imprecise.
  'commands/compile-cache.test.ts',
  // Repeats files of this folder on PostgreSQL.
  'http/operations/on-postgres.system.ts',
]

/** Test files whose threads do not measure coverage, which takes most of the time of a thread. Others cover them. */
const UNMEASURED_THREADS =
  'stores/sqlite/{durability,feed,open-at-once,reader,retention,upgrade,webhooks}.test.ts'

/** Whether the threads of a test file measure coverage. Its path is relative to test/. */
export function doThreadsMeasure(file: string): boolean {
  return !matchesGlob(file, UNMEASURED_THREADS)
}

/** What `npm run test:system` runs. `.taprc` lists what `npm test` runs. */
export const SYSTEM_TESTS: readonly string[] = [
  'test/processes/system/*.ts',
  'test/http/operations/on-postgres.system.ts',
]

/** The files of each process as patterns relative to test/. A file belongs to the first process that matches it. */
const PROCESSES: Readonly<Record<string, readonly string[]>> = {
  commands: ['commands/*.test.ts'],
  'http-operations': ['http/operations/*.test.ts'],
  'http-request': ['http/request/*.test.ts'],
  'http-server': ['http/**/*.test.ts'],
  postgres: ['stores/postgres/*.test.ts'],
  sqlite: ['stores/**/*.test.ts'],
  transfer: ['{formats,page,transfer}/**/*.test.ts'],
  users: ['{client,consistency,hostile,webhooks}/**/*.test.ts'],
  mirror: ['{faults-on-demand,interleavings,mirror}/**/*.test.ts'],
  others: ['**/*.test.ts'],
  'system/browser': ['browser/{cors,docs,page-sign-in}.system.ts'],
  'system/page-access': ['browser/{own-fields,page-access*}.system.ts'],
  'system/page-changes': ['browser/page-{bulk-changes,changes*,crash,faults}.system.ts'],
  'system/page': ['browser/*.system.ts'],
  'system/clusters': ['{failover,faults}/*.system.ts', 'consistency/postgres-*.system.ts'],
  'system/kills': ['{consistency,crash}/*.system.ts', 'webhooks/processes.system.ts'],
  'system/postgres': ['stores/postgres/*.system.ts', '**/postgres.system.ts'],
  'system/commands': ['commands/*.system.ts'],
  // Its files share a service.
  'system/threads': ['http-threads/*.system.ts'],
  'system/users': ['{client,consistency,oidc,package}/**/*.system.ts'],
  'system/others': ['**/*.system.ts'],
}

/** All test files except those that run alone, by the name of their process. */
export function filesByProcess(): ReadonlyMap<string, readonly string[]> {
  const cwd = fileURLToPath(new URL('../test/', import.meta.url))
  const taken = new Set(ALONE)
  const processes = new Map<string, readonly string[]>()
  for (const [name, patterns] of Object.entries(PROCESSES)) {
    const files = globSync([...patterns], { cwd }).filter((file) => !taken.has(file))
    for (const file of files) taken.add(file)
    processes.set(name, files.sort())
  }
  return processes
}

/** @param process the URL of the process's file in test/processes/ */
export function listFiles(process: string): readonly string[] {
  const name = /\/test\/processes\/(.+)\.ts$/.exec(process)?.[1] ?? ''
  return filesByProcess().get(name) ?? []
}
