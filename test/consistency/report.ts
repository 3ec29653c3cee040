import type { Report } from './run.ts'

/** The most violations that are printed. One fault of the service often has many. */
const VIOLATIONS_MAX = 5

export function formatReport(report: Report): string {
  const {
    disaster,
    seed,
    seconds,
    calls,
    harms,
    consumerHarms,
    responses,
    plants,
    violations,
    file,
  } = report
  const pairs = plants.map((each) => each.pairs)
  const open = plants.map((each) => each.open)
  return [
    `${disaster}: ${calls} calls in ${seconds} s, ${harms} harms, ${consumerHarms} to consumers, seed ${seed}`,
    `  overlapping pairs, by plant: ${pairs.join(' ')}`,
    `  open outcomes, by plant: ${open.join(' ')}`,
    `  responses: ${JSON.stringify(responses)}`,
    ...violations.slice(0, VIOLATIONS_MAX).map((each) => `VIOLATION with seed ${seed}: ${each}`),
    violations.length === 0
      ? '  no violation'
      : `  ${violations.length} violations; judge them again with --judge ${file}`,
  ].join('\n')
}
