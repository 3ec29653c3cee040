import { basename } from 'node:path'
import { PROCESSES } from './test-processes.ts'

/** Run again on another engine what other processes run and measure. */
const REPEATED = ['test/http/on-postgres.test.ts']

/**
 * Tells tap which test processes to measure for coverage.
 *
 * @returns null for no sources, an empty list for all that the process loads
 */
export default function coverageOf(file: string): null | [] {
  const unmeasured = PROCESSES[basename(file, '.ts')]?.unmeasured !== undefined
  return unmeasured || REPEATED.includes(file) ? null : []
}
