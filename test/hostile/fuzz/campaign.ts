import type { Judge } from '../judge.ts'
import { count, type Tally } from '../witness.ts'
import { runConnection } from './connection.ts'
import { planOf } from './plan.ts'

export interface CampaignOptions {
  readonly port: number
  readonly seed: number
  /** Connection numbers of this share: `first`, `first + step` and so on. */
  readonly first: number
  readonly step: number
  /** Mutated requests to send. */
  readonly requests: number
  /** Simultaneous connections. */
  readonly concurrency: number
}

export interface Finding {
  readonly connection: number
  readonly reason: string
  /** The offending response, if there is one. */
  readonly answer: string
}

export interface Report {
  readonly connections: number
  /** Requests written, and how many of them were mutated. */
  readonly requests: number
  readonly mutated: number
  readonly resets: number
  readonly statuses: Tally
  readonly findings: readonly Finding[]
  readonly kept: readonly (readonly [id: bigint, name: string])[]
}

/** Characters of a response that a finding keeps. */
const ANSWER_MAX = 1000

/** The campaign stops after this many findings. */
const FINDINGS_MAX = 10_000

/** Sends mutated requests to a service on many simultaneous connections. */
export async function runCampaign(
  options: CampaignOptions,
  judge: Judge,
  onProgress: (mutated: number) => void = () => {},
): Promise<Report> {
  const { port, seed, first, step, requests, concurrency } = options
  let next = first
  const report = { connections: 0, requests: 0, mutated: 0, resets: 0 }
  const statuses: Tally = {}
  const findings: Finding[] = []
  const kept: [bigint, string][] = []

  const client = async () => {
    while (report.mutated < requests && findings.length < FINDINGS_MAX) {
      const number = next
      next += step
      const plan = planOf(seed, number)
      const result = await runConnection(port, plan, judge)
      const written = plan.requests.slice(0, result.written)
      report.connections++
      report.requests += written.length
      report.mutated += written.filter(({ isMutated }) => isMutated).length
      if (result.wasReset) report.resets++
      for (const status of result.statuses) count(statuses, status)
      for (const { id, name } of result.kept) kept.push([id, name])
      if (result.fault !== undefined) {
        const { reason, response } = result.fault
        const { head = '', body = '' } = response ?? {}
        findings.push({
          connection: number,
          reason,
          answer: response ? `${head}\n\n${body}`.slice(0, ANSWER_MAX) : '',
        })
      }
      onProgress(report.mutated)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  return { ...report, statuses, findings, kept }
}

/** Adds up the reports of several campaigns on one service. */
export function sumOf(reports: readonly Report[]): Report {
  const sum = (of: (report: Report) => number) =>
    reports.reduce((total, report) => total + of(report), 0)
  const statuses: Tally = {}
  for (const report of reports) {
    for (const [status, number] of Object.entries(report.statuses)) count(statuses, status, number)
  }
  return {
    connections: sum(({ connections }) => connections),
    requests: sum(({ requests }) => requests),
    mutated: sum(({ mutated }) => mutated),
    resets: sum(({ resets }) => resets),
    statuses,
    findings: reports.flatMap(({ findings }) => findings),
    kept: reports.flatMap(({ kept }) => kept),
  }
}
