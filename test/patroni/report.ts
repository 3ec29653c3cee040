import type { Outage } from './outage.ts'

const HEADINGS = [
  'fault',
  'rounds',
  'acknowledged',
  'longest gap between two changes',
  'of which before the lease ended',
]

export function outageLine({ fault, acknowledged, gapMs, leaseMs }: Outage): string {
  return `${fault}: ${acknowledged} changes acknowledged, none for ${ms(gapMs)}, lease ${ms(leaseMs)}`
}

/** A table in Markdown with a row for each fault. */
export function outageTable(outages: readonly Outage[]): string {
  const rows = [...Map.groupBy(outages, ({ fault }) => fault)].map(rowOf)
  const lines = [HEADINGS, HEADINGS.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function rowOf([fault, rounds]: readonly [string, readonly Outage[]]): (string | number)[] {
  const acknowledged = rounds.reduce((sum, each) => sum + each.acknowledged, 0)
  const [longest] = rounds.toSorted((one, other) => other.gapMs - one.gapMs)
  return [fault, rounds.length, acknowledged, ms(longest?.gapMs), ms(longest?.leaseMs)]
}

/** In milliseconds, or a dash. */
function ms(time: number | undefined): string {
  return time === undefined ? '–' : `${Math.round(time)} ms`
}
