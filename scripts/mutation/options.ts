import { randomInt } from 'node:crypto'
import { matchesGlob } from 'node:path'
import { parseArgs } from 'node:util'
import type { Mutant } from './mutant.ts'

export interface Options {
  /** How many mutants to draw. */
  readonly sample: number
  readonly seed: number
  /** How many mutants to judge at once. */
  readonly jobs: number
  /** Files, globs or locations whose mutants to judge, instead of a sample. */
  readonly mutate: readonly string[]
}

/** The minimum share of mutants that the tests must kill. */
export const SCORE_MIN = 0.97

const SAMPLE_DEFAULT = '150'
const JOBS_DEFAULT = '2'

export const USAGE = `Usage: npm run test:mutation -- [options]

Changes the code in many small ways, and runs the tests to see whether they notice.

  --sample N     how many mutants to draw, in proportion from each folder (${SAMPLE_DEFAULT})
  --seed N       which ones to draw; the same seed and sources give the same mutants (random)
  --mutate FILE  all mutants of a file, a glob, FILE:LINE or FILE:LINE:COLUMN instead; may be repeated
  --jobs N       how many mutants to test at once (${JOBS_DEFAULT})

The report is also written to .mutation/report.md. The exit code is 1 if the score is below ${SCORE_MIN * 100} %.`

/** @throws Error if an argument is unknown or invalid */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sample: { type: 'string', default: SAMPLE_DEFAULT },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      jobs: { type: 'string', default: JOBS_DEFAULT },
      mutate: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    sample: integer('--sample', values.sample, 1),
    seed: integer('--seed', values.seed, 0),
    jobs: integer('--jobs', values.jobs, 1),
    mutate: values.mutate,
  }
}

/** Whether a value of `--mutate` selects a mutant. */
export function selects(pattern: string, { file, line, column }: Mutant): boolean {
  const [, glob = '', onLine, atColumn] = /^(.*?)(?::(\d+))?(?::(\d+))?$/.exec(pattern) ?? []
  return (
    matchesGlob(file, glob) &&
    (onLine === undefined || Number(onLine) === line) &&
    (atColumn === undefined || Number(atColumn) === column)
  )
}

function integer(name: string, text: string, min: number): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= min && number < 2 ** 31) return number
  throw new Error(`invalid ${name} "${text}": expected an integer of at least ${min}`)
}
