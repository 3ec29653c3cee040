import { checkAnswers, checkStored } from './answers.ts'
import { type Generate, generateOnAll, type Measured, type WarmLoad } from './load.ts'
import { type Shares, watchProcessors } from './machine.ts'
import { KINDS, type Kind } from './requests.ts'
import { median } from './statistics.ts'
import { type Server, SUBJECTS, type SubjectName, start } from './subjects.ts'

/** What a measurement gave; times are in milliseconds. */
export interface Run extends Measured, Shares {
  /** In MiB, of all servers together; NaN where it cannot be known. */
  readonly peakMemory: number
}

/**
 * Starts a subject on a database of its own, so that nothing is left over from what went before, warms
 * it up and puts it under load.
 *
 * @throws Error if it does not do the work that it is measured for
 */
export async function measure(
  subject: SubjectName,
  file: string,
  load: WarmLoad,
  generate: Generate,
): Promise<Run> {
  try {
    const { run, stored } = await serveLoad(
      [() => start(subject, file, load.stored)],
      load,
      generate,
    )
    if (SUBJECTS[subject].stores) checkStored(file, stored)
    return run
  } catch (error) {
    throw new Error(`${subject}, ${load.kind}: ${(error as Error).message}`, { cause: error })
  }
}

/** Whether each of its requests stores a plant. */
function stores(kind: Kind): boolean {
  return KINDS[kind].every(({ method, ids }) => method === 'POST' && ids !== 'stored')
}

/**
 * Starts servers, warms them up, puts them under load and stops them. Resolves to what they gave, and to how
 * many plants have to be stored afterwards.
 *
 * @param database the process of a database that they share
 * @throws Error if they do not do the work that they are measured for
 */
export async function serveLoad(
  starts: readonly (() => Promise<Server>)[],
  load: WarmLoad,
  generate: Generate,
  database?: number,
): Promise<{ run: Run; stored: number }> {
  const servers: Server[] = []
  try {
    for (const start of starts) servers.push(await start())
    const urls = servers.map(({ url }) => url)
    for (const url of urls) await checkAnswers(url)
    const warm = await generateOnAll(urls, { ...load, seconds: load.warmUp }, generate)
    // Behind what was answered are those that were not, one for each connection.
    const first = load.first + warm.requests + load.connections
    const shares = watchProcessors({ servers: servers.map(({ pid }) => pid), database })
    const measured = await generateOnAll(urls, { ...load, first }, generate)
    const failed = warm.failed + measured.failed
    const peakMemory = servers.reduce((sum, server) => sum + server.peakMemory, 0)
    const acknowledged = warm.requests + measured.requests - failed
    const stored = load.stored + (stores(load.kind) ? acknowledged : 0)
    return { run: { ...measured, ...shares(), failed, peakMemory }, stored }
  } finally {
    for (const server of servers) await server.stop()
  }
}

/** What is typical of several runs; of failures and of others it has all. */
export function typical(runs: readonly Run[]): Run {
  const of = (figure: keyof Run) => runs.map((run) => run[figure])
  return {
    requests: median(of('requests')),
    perSecond: median(of('perSecond')),
    p50: median(of('p50')),
    p99: median(of('p99')),
    max: median(of('max')),
    peakMemory: median(of('peakMemory')),
    failed: of('failed').reduce((sum, failed) => sum + failed, 0),
    loading: median(of('loading')),
    serving: median(of('serving')),
    storing: median(of('storing')),
    others: Math.max(...of('others')),
  }
}
