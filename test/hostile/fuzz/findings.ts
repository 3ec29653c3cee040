import type { Finding } from './campaign.ts'
import { planOf } from './plan.ts'

/** Characters of the sent bytes to show; `--connection` shows all of them. */
const SENT_MAX = 2000

/** Describes the first finding of each kind. */
export function describeFindings(findings: readonly Finding[], seed: number): string[] {
  const kinds = Map.groupBy(findings, ({ reason }) => kindOf(reason))
  return [...kinds.values()].map((alike) => {
    const { connection, reason, answer } = alike[0] as Finding
    const { requests, ...how } = planOf(seed, connection)
    const sent = escaped(Buffer.concat(requests.map(({ bytes }) => bytes)))
    return [
      `FOUND ${alike.length} times: ${reason}`,
      `  replay with --seed ${seed} --connection ${connection}: ${JSON.stringify(how)}`,
      `  sent: ${sent.slice(0, SENT_MAX)}`,
      `  response: ${JSON.stringify(answer)}`,
    ].join('\n')
  })
}

/** Bytes as a JSON string, each byte one character. */
export function escaped(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1'))
}

/** Findings of the same kind differ only in numbers and quoted text. */
function kindOf(reason: string): string {
  return reason
    .replace(/\d+/g, '0')
    .replace(/[:"].*/s, '')
    .slice(0, 60)
}
