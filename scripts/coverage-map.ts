import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { PROCESSES } from './test-processes.ts'

/** These repeat on PostgreSQL what other processes run and measure. */
const REPEATED = ['test/http/on-postgres.test.ts']

const SOURCES = globSync('{service,src,client}/**/*.ts', { exclude: ['**/*.d.ts'] })

/**
 * Tells tap which sources to measure for coverage in a test process.
 *
 * @returns null for none
 */
export default function mapCoverage(file: string): null | string[] {
  const unmeasured = PROCESSES[basename(file, '.ts')]?.unmeasured !== undefined
  return unmeasured || REPEATED.includes(file) ? null : SOURCES
}
