/** `npm run test:mutation`: see `USAGE`. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { matches, readEquivalents } from './equivalents.ts'
import { Judge, type Judgement } from './judge.ts'
import { findMutants, type Mutant } from './mutant.ts'
import { readOptions, SCORE_MIN, selects, USAGE } from './options.ts'
import { type FailingTest, type Reach, ReachRecorder } from './reach.ts'
import { computeScore, report, summarize } from './report.ts'
import { sample } from './sample.ts'
import { projectFiles, Workspace } from './workspace.ts'

const OUTPUT = '.mutation'

const options = readOptions(process.argv.slice(2))
if (options === 'help') {
  console.log(USAGE)
  process.exit()
}
const { seed, jobs, mutate } = options

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interruption.abort())

const files = projectFiles('.')
const sources = files.filter((file) => /^(service|src|client)\/.*(?<!\.gen|\.d)\.ts$/.test(file))
const tests = files.filter((file) => /^test\/.*\.test\.ts$/.test(file))
const mutants = sources.flatMap((file) => findMutants(file, readFileSync(file, 'utf8')))
const equivalents = readEquivalents(new URL('equivalent.yaml', import.meta.url))
const stale = equivalents.filter((entry) => !mutants.some((mutant) => matches(entry, mutant)))
const chosen =
  mutate.length === 0
    ? sample(mutants, options.sample, seed)
    : mutants.filter((mutant) => mutate.some((pattern) => selects(pattern, mutant)))
if (chosen.length === 0) throw new Error(`no mutants in ${mutate.join(', ')}`)

const folder = mkdtempSync(join(tmpdir(), 'mutation-'))
try {
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755)
  const workspaces = Array.from(
    { length: jobs },
    (_, index) => new Workspace(process.cwd(), join(folder, String(index)), files),
  )
  const { reaches, failing } = await recordReaches(workspaces)
  const judgements = await judgeAll(workspaces, new Judge(reaches))
  const text = report({
    seed: mutate.length === 0 ? seed : undefined,
    judgements,
    failing,
    stale,
  })
  mkdirSync(OUTPUT, { recursive: true })
  writeFileSync(join(OUTPUT, 'report.md'), text)
  console.log(`\n${text}`)
  process.exitCode = computeScore(judgements) < SCORE_MIN ? 1 : 0
} catch (error) {
  rethrowUnlessInterrupted(error)
} finally {
  if (interruption.signal.aborted) process.exitCode = 130
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function rethrowUnlessInterrupted(error: unknown): void {
  if (!interruption.signal.aborted) throw error
}

async function recordReaches(workspaces: readonly Workspace[]) {
  const recorder = new ReachRecorder(join(OUTPUT, 'reach'), files, sources)
  const reaches: Reach[] = []
  const failing: FailingTest[] = []
  const unknown: string[] = []
  const [first] = workspaces
  for (const test of tests) {
    const kept = first && recorder.findCached(first, test)
    if (kept === undefined) unknown.push(test)
    else reaches.push(kept)
  }
  if (unknown.length > 0) console.log(`${unknown.length} test files run without a mutant first`)
  await distribute(workspaces, unknown, async (workspace, test) => {
    const result = await recorder.record(workspace, test, interruption.signal)
    if ('output' in result) failing.push(result)
    else reaches.push(result)
    const outcome = 'output' in result ? 'FAILED' : `${(result.durationMs / 1000).toFixed(1)} s`
    console.log(`[${reaches.length + failing.length}/${tests.length}] ${test} ${outcome}`)
  })
  return { reaches, failing }
}

/** Judges the chosen mutants. Resolves to the judgements so far if the run is interrupted. */
async function judgeAll(workspaces: readonly Workspace[], judge: Judge): Promise<Judgement[]> {
  const judgements: Judgement[] = []
  await distribute(workspaces, chosen, async (workspace, mutant) => {
    const judgement = await judgeMutant(workspace, judge, mutant)
    judgements.push(judgement)
    const { verdict, test = '', durationMs } = judgement
    const progress = `[${judgements.length}/${chosen.length}] ${verdict.padEnd(11)}`
    console.log(`${progress} ${summarize(judgement)}  ${test} ${(durationMs / 1000).toFixed(1)} s`)
  }).catch(rethrowUnlessInterrupted)
  return judgements.toSorted(
    (one, other) => chosen.indexOf(one.mutant) - chosen.indexOf(other.mutant),
  )
}

async function judgeMutant(workspace: Workspace, judge: Judge, mutant: Mutant): Promise<Judgement> {
  const equivalent = equivalents.find((entry) => matches(entry, mutant))
  if (equivalent === undefined) return judge.judge(workspace, mutant, interruption.signal)
  const { reason } = equivalent
  return { mutant, verdict: 'equivalent', tests: 0, durationMs: 0, reason }
}

/** Distributes items over the workspaces. Each workspace works on one item at a time. */
async function distribute<Item>(
  workspaces: readonly Workspace[],
  items: readonly Item[],
  work: (workspace: Workspace, item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  const results = await Promise.allSettled(
    workspaces.map(async (workspace) => {
      for (const item of queue) await work(workspace, item)
    }),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
