import { checkAnswers, checkStored } from './answers.ts'
import type { Generate, Measured, WarmLoad } from './load.ts'
import { watchOthers } from './machine.ts'
import { KINDS, type Kind } from './requests.ts'
import { median } from './statistics.ts'
import { SUBJECTS, type SubjectName, start } from './subjects.ts'

/** What a measurement gave; times are in milliseconds. */
export interface Run extends Measured {
  /** In MiB; NaN where it cannot be known. */
  readonly peakMemory: number
  /** The share of the processors' time that went to others; NaN where it cannot be known. */
  readonly others: number
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
    const { run, answered } = await serveLoad(subject, file, load, generate)
    const acknowledged = answered - run.failed
    if (SUBJECTS[subject].stores && stores(load.kind)) checkStored(file, load.stored + acknowledged)
    return run
  } catch (error) {
    throw new Error(`${subject}, ${load.kind}: ${(error as Error).message}`, { cause: error })
  }
}

/** Whether each of its requests stores a plant. */
function stores(kind: Kind): boolean {
  return KINDS[kind].every(({ method, ids }) => method === 'POST' && ids !== 'stored')
}

async function serveLoad(
  subject: SubjectName,
  file: string,
  load: WarmLoad,
  generate: Generate,
): Promise<{ run: Run; answered: number }> {
  const server = await start(subject, file, load.stored)
  try {
    await checkAnswers(server.url)
    const warm = await generate(server.url, { ...load, seconds: load.warmUp })
    // Behind what was answered are those that were not, one for each connection.
    const first = load.first + warm.requests + load.connections
    const others = watchOthers(server.pid)
    const measured = await generate(server.url, { ...load, first })
    const failed = warm.failed + measured.failed
    const run = { ...measured, failed, peakMemory: server.peakMemory, others: others() }
    return { run, answered: warm.requests + measured.requests }
  } finally {
    await server.stop()
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
    others: Math.max(...of('others')),
  }
}
