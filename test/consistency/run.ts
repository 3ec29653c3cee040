/** One disaster under load, and its judgement. */
import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import { makeFolder } from '../../tools/tap/temporary-folders.ts'
import type { Owner } from '../helpers/processes/command.ts'
import { Random } from '../hostile/fuzz/random.ts'
import type { Disaster } from './disasters/disaster.ts'
import { type Call, History } from './history.ts'
import { judgeFollower } from './judges/feed.ts'
import { type Judgement, judge } from './judges/judge.ts'
import { Follower, readFeed } from './load/follower.ts'
import { Load, perform } from './load/load.ts'
import { plantsOf } from './operations/reads.ts'
import type { Target } from './services/target.ts'

/** The most calls that are answered before the next harm, by default. */
const CALLS_MAX = 1500

/** The least calls that a run answers, however slow the machine is. */
const CALLS_MIN = 1000

/** The most calls that are answered before the next harm to a consumer. */
const CONSUMER_CALLS_MAX = 400

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
  readonly consumerHarms: number
  /** Number of responses by operation and status. */
  readonly responses: Readonly<Record<string, number>>
  /** Where the history is, if there is a violation. */
  readonly file: string | undefined
}

export interface RunOptions {
  readonly owner: Owner
  readonly seed: number
  readonly seconds: number
  /** Names of consumers of the disaster; none by default. */
  readonly consumers?: readonly string[]
  /** After how many harms it ends earlier. */
  readonly harms?: number
}

export function newSeed(): number {
  return randomInt(2 ** 31 - 1)
}

/** @throws Error with the seed, if the disaster or a consumer throws one */
export async function run(disaster: Disaster, options: RunOptions): Promise<Report> {
  const history = new History(options.seed)
  try {
    return await runAndJudge(disaster, options, history)
  } catch (error) {
    const file = save(history, disaster.name)
    const reason = (error as Error).message
    throw new Error(`${disaster.name} with seed ${options.seed}, history ${file}: ${reason}`, {
      cause: error,
    })
  }
}

async function runAndJudge(
  disaster: Disaster,
  options: RunOptions,
  history: History,
): Promise<Report> {
  const { owner, seed, seconds, consumers: names = [], harms: harmsMax = Infinity } = options
  const random = new Random(seed, DISASTER)
  const folder = makeFolder(owner, tmpdir())
  const place = { owner, folder, random, history }
  const target = await disaster.start(place)
  const starts = names.flatMap((name) => disaster.consumers?.[name] ?? [])
  const consumers = await Promise.all(starts.map((start) => start(place, target)))
  const follower = new Follower(target.urls)
  owner.teardown(() => follower.abandon())
  const load = new Load({ urls: target.urls, history, fields: target.fields })
  const callsBefore = (callsMax: number) => () => random.below(callsMax)
  const begin = performance.now()
  const end = begin + seconds * 1000
  const [harms, ...consumerHarms] = await Promise.all([
    harm(target, load, { callsBefore: callsBefore(disaster.callsMax ?? CALLS_MAX), end, harmsMax }),
    ...consumers.map((each) =>
      harm(each, load, { callsBefore: callsBefore(CONSUMER_CALLS_MAX), end, harmsMax }),
    ),
  ])
  await load.answers(CALLS_MIN - load.answered, HEALTHY_MS_MAX)
  const lasted = Math.round((performance.now() - begin) / 1000)
  await load.end()
  await target.heal?.()
  const stored = await listAll(target, history)
  const [followed, received] = await follow(follower, target.urls)
  const current = await readFeed(target.urls)
  const changes = (await target.feed?.()) ?? current
  history.feed = { changes, stored }
  const { violations, plants } = judge(history)
  const faults = await Promise.all(consumers.map((consumer) => consumer.judge(changes)))
  const missed = judgeFollower(received, followed)
  const all = [...load.undocumented, ...missed, ...faults.flat(), ...violations]
  return {
    disaster: disaster.name,
    seed,
    seconds: lasted,
    calls: history.calls.length,
    harms,
    consumerHarms: consumerHarms.reduce((sum, each) => sum + each, 0),
    responses: count(history.calls),
    file: all.length === 0 ? undefined : save(history, disaster.name),
    violations: all,
    plants,
  }
}

/** What the feed contains, and what a follower has received until then. */
async function follow(follower: Follower, urls: Target['urls']) {
  const feed = await readFeed(urls)
  const last = feed.at(-1)
  return [feed, last === undefined ? [] : await follower.end(last.cursor)] as const
}

/** @returns how often harm was done */
async function harm(
  target: Pick<Target, 'harm'>,
  load: Load,
  limits: {
    readonly callsBefore: () => number
    readonly end: number
    readonly harmsMax: number
  },
): Promise<number> {
  const { callsBefore, end, harmsMax } = limits
  for (let harms = 0; ; harms++) {
    const calls = target.harm === undefined ? Number.POSITIVE_INFINITY : callsBefore()
    await load.answers(calls, Math.max(0, end - performance.now()))
    // A slow machine does its first harm late.
    const isOver = performance.now() >= end && harms > 0
    if (target.harm === undefined || isOver || harms === harmsMax) return harms
    await target.harm()
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
    await perform(agent, all[attempt % all.length] as string, call)
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
