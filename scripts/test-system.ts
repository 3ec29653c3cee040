/**
 * `npm run test:system`: runs the tests that need clusters, browsers, many kills or minutes. After an `npm test`, it
 * also checks that both together cover the product completely.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, renameSync, rmSync } from 'node:fs'
import { SYSTEM_TESTS } from './test-processes.ts'

/** tap writes here what each process covered, and empties the folder first. */
const COVERAGE = '.tap/coverage'
const COVERAGE_BEFORE = '.tap/coverage-before'

const files = process.argv.length > 2 ? process.argv.slice(2) : globSync([...SYSTEM_TESTS])
const isMeasured = process.argv.length === 2 && existsSync(COVERAGE)

rmSync(COVERAGE_BEFORE, { recursive: true, force: true })
if (isMeasured) renameSync(COVERAGE, COVERAGE_BEFORE)
const incomplete = isMeasured ? '--allow-incomplete-coverage' : '--disable-coverage'
run('--coverage-report=none', '--timeout=600', incomplete, ...files)
if (isMeasured) {
  cpSync(COVERAGE_BEFORE, COVERAGE, { recursive: true })
  console.log('coverage of npm test and npm run test:system together:')
  run(
    'report',
    'text',
    '--no-show-full-coverage',
    ...['statements', 'branches', 'functions', 'lines'].map((each) => `--${each}=100`),
  )
}

function run(...args: readonly string[]): void {
  const { status } = spawnSync('tap', args, { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
