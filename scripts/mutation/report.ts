import { collapseWhitespace, type Equivalent } from './equivalents.ts'
import type { Judgement, Verdict } from './judge.ts'
import { formatLocation } from './mutant.ts'
import type { FailingTest } from './reach.ts'
import { groupByFolder } from './sample.ts'

export interface Results {
  readonly seed: number | undefined
  readonly judgements: readonly Judgement[]
  readonly failing: readonly FailingTest[]
  readonly stale: readonly Equivalent[]
}

const VERDICTS: readonly Verdict[] = ['killed', 'timeout', 'survived', 'not covered', 'equivalent']

/** The share of mutants that the tests killed, from 0 to 1. Equivalent mutants do not count. */
export function computeScore(judgements: readonly Judgement[]): number {
  const killed = count(judgements, 'killed') + count(judgements, 'timeout')
  const possible = judgements.length - count(judgements, 'equivalent')
  return possible === 0 ? 1 : killed / possible
}

/** Formats the report as Markdown that is also readable as plain text. */
export function report({ seed, judgements, failing, stale }: Results): string {
  const of = (verdict: Verdict) => judgements.filter((judgement) => judgement.verdict === verdict)
  return [
    `# Mutation score: ${percentage(judgements)}`,
    ...(seed === undefined ? [] : [`Seed ${seed}, ${judgements.length} mutants.`]),
    table(judgements),
    ...section('Survivors', of('survived').map(describeSurvivor)),
    ...section('Not covered by any test', of('not covered').map(describeSurvivor)),
    ...section('Equivalent', of('equivalent').map(describeEquivalent)),
    ...section('Stale entries in scripts/mutation/equivalent.yaml', stale.map(describeStale)),
    ...section('Tests left out, because they fail without a mutant', failing.map(describeFailing)),
    '',
  ].join('\n\n')
}

/** Describes a mutant on one line. */
export function summarize({ mutant }: Judgement): string {
  return `${formatLocation(mutant)}  ${shorten(mutant.original)} → ${shorten(mutant.replacement)}`
}

function section(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : [`## ${title} (${entries.length})`, ...entries]
}

function table(judgements: readonly Judgement[]): string {
  const folders = groupByFolder(
    judgements.map((judgement) => ({ ...judgement, ...judgement.mutant })),
  )
  const rows = [...folders, ['all', judgements] as const].map(([folder, group]) => [
    folder,
    ...VERDICTS.map((verdict) => String(count(group, verdict))),
    percentage(group),
  ])
  const header = ['folder', ...VERDICTS, 'score']
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(' | ')} |`
  const rule = widths.map((width, column) => '-'.repeat(width - 1) + (column === 0 ? '-' : ':'))
  return [line(header), line(rule), ...rows.map(line)].join('\n')
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width)
}

function describeSurvivor({ mutant, tests }: Judgement): string {
  const { lineText, column, original, replacement } = mutant
  const [first = ''] = original.split('\n')
  const rest = lineText.slice(column - 1 + first.length)
  const mutated = `${lineText.slice(0, column - 1)}${replacement}${rest}`
  return [
    `### ${formatLocation(mutant)}`,
    `\`\`\`diff\n- ${lineText.trim()}\n+ ${mutated.trim()}\n\`\`\``,
    `${shorten(original)} → ${shorten(replacement)}, after ${tests} test files`,
    `    npm run test:mutation -- --mutate ${formatLocation(mutant)}`,
  ].join('\n\n')
}

function describeEquivalent(judgement: Judgement): string {
  return `- ${summarize(judgement)}\n  ${collapseWhitespace(judgement.reason ?? '')}`
}

function describeStale({ file, line, original, replacement }: Equivalent): string {
  return `- ${file}: ${collapseWhitespace(line)} (${shorten(original)} → ${shorten(replacement)})`
}

function describeFailing({ test, output }: FailingTest): string {
  return `### ${test}\n\n\`\`\`\n${output.slice(-2000).trim()}\n\`\`\``
}

function count(judgements: readonly Judgement[], verdict: Verdict): number {
  return judgements.filter((judgement) => judgement.verdict === verdict).length
}

function percentage(judgements: readonly Judgement[]): string {
  // Rounded down, so that 96.99 % does not look like a pass.
  return `${(Math.floor(computeScore(judgements) * 1000) / 10).toFixed(1)} %`
}

function shorten(code: string): string {
  const text = collapseWhitespace(code)
  const shown = text.length > 60 ? `${text.slice(0, 59)}…` : text
  return shown === '' ? '(nothing)' : `\`${shown}\``
}
