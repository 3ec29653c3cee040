import type { Figures } from './round.ts'

/** The most examples of what is wrong that are printed for a round. */
const EXAMPLES_MAX = 5

const HEADINGS = [
  'fault',
  'rounds',
  'acknowledged',
  'lost',
  'duplicated',
  'undocumented',
  'longest gap in creates',
  'of which lease',
]

/** A line for a round, and what is wrong with it. */
export function roundLines(name: string, round: number, figures: Figures): string[] {
  const { acknowledged, lost, duplicated, undocumented, gap, lease, slowest, statuses } = figures
  const facts = [
    `${acknowledged} acknowledged`,
    `${lost.length} lost`,
    `${duplicated.length} duplicated`,
    `${undocumented.length} undocumented`,
    `gap ${ms(gap)}`,
    `lease ${ms(lease)}`,
    `slowest response ${ms(slowest)}`,
    Object.entries(statuses)
      .map(([status, number]) => `${status}: ${number}`)
      .join(', '),
  ]
  const wrong = [...duplicated, ...undocumented, ...lost].slice(0, EXAMPLES_MAX)
  return [`${name}, round ${round}: ${facts.join('; ')}`, ...wrong.map((each) => `  ${each}`)]
}

/** A table in Markdown with a row for each fault. */
export function table(rows: ReadonlyMap<string, readonly Figures[]>): string {
  const lines = [HEADINGS, HEADINGS.map(() => '---'), ...[...rows].map(rowOf)]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Nothing lost, nothing duplicated and only documented responses. */
export function isRight({ lost, duplicated, undocumented }: Figures): boolean {
  return lost.length + duplicated.length + undocumented.length === 0
}

function rowOf([name, rounds]: readonly [string, readonly Figures[]]): (string | number)[] {
  const sum = (of: (figures: Figures) => number) =>
    rounds.reduce((total, figures) => total + of(figures), 0)
  const [longest] = [...rounds].sort((one, other) => other.gap - one.gap)
  return [
    name,
    rounds.length,
    sum(({ acknowledged }) => acknowledged),
    sum(({ lost }) => lost.length),
    sum(({ duplicated }) => duplicated.length),
    sum(({ undocumented }) => undocumented.length),
    ms(longest?.gap),
    ms(longest?.lease),
  ]
}

/** In milliseconds, or a dash. */
function ms(time: number | undefined): string {
  return time === undefined ? '–' : `${Math.round(time)} ms`
}
