import { checkAnswers, checkStored } from './answers.ts'
import { type Generate, generateOnAll, type Measured, type WarmLoad } from './load.ts'
import { type Shares, watchProcessors } from './machine.ts'
import { type ProcessorTime, watchThreads } from './processor-time.ts'
import { plantsPerRequest } from './requests.ts'
import { median } from './statistics.ts'
import { type Server, SUBJECTS, type SubjectName, start } from './subjects.ts'

/** The result of a measurement. Times are in milliseconds. */
export interface Run extends Measured, Shares, ProcessorTime {
  /** The sum over all servers, in MiB. NaN if the system does not report it. */
  readonly peakMemory: number
}

/**
 * Starts a subject on its own database, warms it up and measures it under load.
 *
 * @param flags additional arguments of the subject
 * @throws Error if the subject gives wrong responses or has lost plants
 */
export async function measure(
  subject: SubjectName,
  file: string,
  load: WarmLoad,
  generate: Generate,
  { flags = [], limit }: { readonly flags?: readonly string[] } & Pick<Setup, 'limit'> = {},
): Promise<Run> {
  try {
    const starts = [() => start(subject, file, load.stored, flags)]
    const { run, stored } = await serveLoad(starts, load, generate, { limit })
    if (SUBJECTS[subject].stores) checkStored(file, stored)
    return run
  } catch (error) {
    throw new Error(`${subject}, ${load.kind}: ${(error as Error).message}`, { cause: error })
  }
}

/** How servers are measured. */
export interface Setup {
  /** The process id of the database server that they share. */
  readonly database?: number | undefined
  /** Called after the warm-up with the process ids of the servers. Disposed before they stop. */
  readonly limit?: ((pids: readonly number[]) => Disposable) | undefined
}

/**
 * Starts servers, warms them up, measures them under load and stops them.
 *
 * @returns the measurement, and how many plants must be stored afterwards
 * @throws Error if a server gives wrong responses
 */
export async function serveLoad(
  starts: readonly (() => Promise<Server>)[],
  load: WarmLoad,
  generate: Generate,
  { database, limit }: Setup = {},
): Promise<{ run: Run; stored: number }> {
  const servers: Server[] = []
  try {
    for (const start of starts) servers.push(await start())
    const urls = servers.map(({ url }) => url)
    for (const url of urls) await checkAnswers(url)
    const warm = await generateOnAll(urls, { ...load, seconds: load.warmUp }, generate)
    // Each connection may have sent one more request, whose response was not awaited.
    const first =
      load.first + (warm.requests + load.connections) * Math.max(1, plantsPerRequest(load.kind))
    const pids = servers.map(({ pid }) => pid)
    using _limits = limit?.(pids)
    const shares = watchProcessors({ servers: pids, database })
    const times = watchThreads(pids)
    const measured = await generateOnAll(urls, { ...load, first }, generate)
    const figures = { ...measured, ...times(measured.requests), ...shares() }
    const failed = warm.failed + measured.failed
    const peakMemory = servers.reduce((sum, server) => sum + server.peakMemory, 0)
    const acknowledged = warm.requests + measured.requests - failed
    const stored = load.stored + acknowledged * plantsPerRequest(load.kind)
    return { run: { ...figures, failed, peakMemory }, stored }
  } finally {
    for (const server of servers) await server.stop()
  }
}

/** The median of several runs, but the sum of their failures and the maximum of other programs' load. */
export function summarizeRuns(runs: readonly Run[]): Run {
  const of = (figure: keyof Run) => runs.map((run) => run[figure])
  return {
    requests: median(of('requests')),
    perSecond: median(of('perSecond')),
    p50: median(of('p50')),
    p99: median(of('p99')),
    max: median(of('max')),
    peakMemory: median(of('peakMemory')),
    failed: of('failed').reduce((sum, failed) => sum + failed, 0),
    httpCpuUs: median(of('httpCpuUs')),
    writerCpuUs: median(of('writerCpuUs')),
    cpuUs: median(of('cpuUs')),
    loading: median(of('loading')),
    serving: median(of('serving')),
    storing: median(of('storing')),
    others: Math.max(...of('others')),
    idle: median(of('idle')),
  }
}
