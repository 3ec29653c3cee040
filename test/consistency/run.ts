/** One disaster under load, and its judgement. */
import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { StoredPlant } from '../../service/plant-store.ts'
import { makeFolder } from '../../tools/temporary-folders.ts'
import type { Owner } from '../helpers/command.ts'
import { Random } from '../hostile/fuzz/random.ts'
import type { Disaster, Target } from './disasters/disaster.ts'
import { type Call, History } from './history.ts'
import { judgeFollower } from './judges/feed.ts'
import { type Judgement, judge } from './judges/judge.ts'
import { Follower, readFeed } from './load/follower.ts'
import { Load, perform } from './load/load.ts'
import { plantsOf } from './operations/reads.ts'

/** The most calls that are answered before the next harm, by default. */
const CALLS_MAX = 1500

/** Limit for the first list after a disaster, in milliseconds. */
const HEALTHY_MS_MAX = 60_000

/** The stream of the disaster's random numbers; the clients have the first ones. */
const DISASTER = 1_000

export interface Report extends Judgement {
  readonly disaster: string
  readonly seed: number
  readonly seconds: number
  readonly calls: number
  readonly harms: number
  /** Number of responses by operation and status. */
  readonly responses: Readonly<Record<string, number>>
  /** Where the history is, if there is a violation. */
  readonly file: string | undefined
}

export interface RunOptions {
  readonly owner: Owner
  readonly seed: number
  readonly seconds: number
  /** After how many harms it ends earlier. */
  readonly harms?: number
}

export function newSeed(): number {
  return randomInt(2 ** 31 - 1)
}

export async function run(
  disaster: Disaster,
  { owner, seed, seconds, harms: harmsMax = Number.POSITIVE_INFINITY }: RunOptions,
): Promise<Report> {
  const history = new History(seed)
  const random = new Random(seed, DISASTER)
  const folder = makeFolder(owner, tmpdir())
  const target = await disaster.start({ owner, folder, random, history })
  const follower = new Follower(target.urls)
  const load = new Load({ urls: target.urls, history })
  const callsBefore = () => random.below(disaster.callsMax ?? CALLS_MAX)
  const begin = performance.now()
  let harms: number
  try {
    harms = await harm(target, load, { callsBefore, end: begin + seconds * 1000, harmsMax })
  } finally {
    // Otherwise, the clients would go on after a harm that failed.
    await load.end()
  }
  const lasted = Math.round((performance.now() - begin) / 1000)
  await target.heal?.()
  const stored = await listAll(target, history)
  const received = await follower.end()
  const changes = await readFeed(target.urls)
  history.feed = { changes, stored }
  const { violations, plants } = judge(history)
  const all = [...load.undocumented, ...judgeFollower(received, changes), ...violations]
  return {
    disaster: disaster.name,
    seed,
    seconds: lasted,
    calls: history.calls.length,
    harms,
    responses: count(history.calls),
    file: all.length === 0 ? undefined : save(history, disaster.name),
    violations: all,
    plants,
  }
}

/** @returns how often harm was done */
async function harm(
  target: Target,
  load: Load,
  limits: {
    readonly callsBefore: () => number
    readonly end: number
    readonly harmsMax: number
  },
): Promise<number> {
  const { callsBefore, end, harmsMax } = limits
  let harms = 0
  for (;;) {
    const calls = target.harm === undefined ? Number.POSITIVE_INFINITY : callsBefore()
    await load.answers(calls, Math.max(0, end - performance.now()))
    if (performance.now() >= end || harms === harmsMax) return harms
    await target.harm?.()
    harms += 1
  }
}

/** The final state, which is one more read for the judges. */
async function listAll(target: Target, history: History): Promise<StoredPlant[]> {
  const agent = new Agent()
  const end = performance.now() + HEALTHY_MS_MAX
  for (let attempt = 0; performance.now() < end; attempt++) {
    const all = target.urls()
    const call: Call = {
      client: 'final state',
      operation: 'list',
      arguments: { query: '' },
      called: performance.now(),
    }
    await perform(agent, all[attempt % all.length] as string, call, [])
    if (call.answer?.status === 200) {
      history.calls.push(call)
      return plantsOf(call)
    }
    await setTimeout(100)
  }
  throw new Error('the service is not healthy after the disaster')
}

function count(calls: readonly Call[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { operation, answer } of calls) {
    const key = `${operation} ${answer?.status ?? 'none'}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return Object.fromEntries(Object.entries(counts).sort())
}

function save(history: History, name: string): string {
  const file = join(
    mkdtempSync(join(tmpdir(), 'plant-store-history-')),
    `${name}-${history.seed}.jsonl`,
  )
  history.save(file)
  return file
}
