/** Defines which test files share a process in `npm test`. Each process has a file in test/processes/. */
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

interface TestProcess {
  /** Patterns relative to test/. A file belongs to the first process that matches it. */
  readonly files: readonly string[]
  /** Why the process does not count toward coverage, which saves about a quarter of its time. */
  readonly unmeasured?: string
}

/** Test files that run in a process of their own. `.taprc` lists them. */
export const ALONE: readonly string[] = [
  // Turns on the compile cache, which makes coverage imprecise.
  'compile-cache.test.ts',
  // Checks which modules the process has loaded.
  'http/docs-off.test.ts',
  // Repeats files of this folder on PostgreSQL.
  'http/on-postgres.test.ts',
]

/** The other processes. Their order matters only where patterns overlap. */
export const PROCESSES: Readonly<Record<string, TestProcess>> = {
  disasters: {
    files: ['{crash,failover,faults,replicas}/*.test.ts', 'webhooks/processes.test.ts'],
    unmeasured: 'they start many processes, which run nothing that other tests do not',
  },
  strangers: {
    files: [
      '{browser,hostile,observing}/*.test.ts',
      'http/{model,properties}.test.ts',
      'http-threads/model.test.ts',
    ],
    unmeasured: 'they use the service as a user does, and run nothing that other tests do not',
  },
  postgres: {
    files: ['stores/postgres/*.test.ts', '{admin,commands,http-threads,webhooks}/postgres.test.ts'],
  },
  // Some of its files share a service.
  'http-threads': { files: ['http-threads/*.test.ts'] },
  sqlite: { files: ['stores/**/*.test.ts'] },
  'commands-1': { files: ['commands/[a-e]*.test.ts'] },
  'commands-2': { files: ['commands/[f-q]*.test.ts'] },
  'commands-3': { files: ['commands/*.test.ts'] },
  'http-1': { files: ['http/[a-o]*.test.ts'] },
  'http-2': { files: ['http/*.test.ts'] },
  others: { files: ['**/*.test.ts'] },
}

/** All test files except those that run alone, by the name of their process. */
export function filesByProcess(): ReadonlyMap<string, string[]> {
  const cwd = fileURLToPath(new URL('../test/', import.meta.url))
  const taken = new Set(ALONE)
  const processes = new Map<string, string[]>()
  for (const [name, { files: patterns }] of Object.entries(PROCESSES)) {
    const files = globSync(patterns, { cwd }).filter((file) => !taken.has(file))
    for (const file of files) taken.add(file)
    processes.set(name, files.sort())
  }
  return processes
}

/** @param process the URL of the process's file in test/processes/ */
export function listFiles(process: string): readonly string[] {
  return filesByProcess().get(basename(process, '.ts')) as string[]
}
