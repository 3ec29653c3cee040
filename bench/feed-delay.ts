/**
 * `npm run bench:feed-delay`: measures the delay from the response to a create until its event arrives at the followers
 * of a service. README.md explains the figures.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'
import { describeMachine, warnIfBusy } from './machine.ts'
import { printTable } from './report.ts'
import { TOKEN } from './stores.ts'
import { SUBJECTS, start } from './subjects.ts'

/** Between the last event of a create and the next create, so that each one is measured alone. */
const PAUSE_MS = 20

/** Creates before the measurement, while Node compiles its hot code. */
const WARM_UP = 20

const FOLLOWERS = [1, 100, 1000]

interface Options {
  readonly creates: number
  readonly followers: number[]
}

const whole = (max: number) => argument(integer(1, max))
const { creates, followers } = new Command('bench:feed-delay')
  .description('measure the delay of events')
  .addOption(
    new Option('--creates <number>', 'for each number of followers')
      .default(500)
      .argParser(whole(1e6)),
  )
  .addOption(
    new Option('--followers <numbers...>', 'numbers of streams')
      .default(FOLLOWERS)
      .argParser((value: string, previous: number[]) => [
        ...(previous === FOLLOWERS ? [] : previous),
        whole(2000)(value),
      ]),
  )
  .parse()
  .opts<Options>()

console.log(`${describeMachine()}, ${creates} creates, one at a time`)
await warnIfBusy()
const folder = await mkdtemp(join(tmpdir(), 'plant-store-delay-'))
try {
  const rows: string[][] = []
  for (const count of followers) rows.push(await measure(count))
  printTable(
    [['followers', 'p50 ms', 'p99 ms', 'max ms', 'last p50 ms', 'create p50 ms'], ...rows],
    0,
  )
} finally {
  await rm(folder, { recursive: true })
}

/** Measures with one service, and returns a row of the table. */
async function measure(count: number): Promise<string[]> {
  const file = join(folder, `${count}.db`)
  await SUBJECTS['plant store'].fill?.(file, 1)
  const server = await start('plant store', file, 1)
  try {
    const arrivals: number[] = []
    const streams = await Promise.all(
      Array.from({ length: count }, () =>
        openStream(server.url, () => arrivals.push(performance.now())),
      ),
    )
    const agent = new Agent({ keepAlive: true })
    const delays: number[] = []
    const lasts: number[] = []
    const responses: number[] = []
    for (let index = 0; index < WARM_UP + creates; index++) {
      arrivals.length = 0
      const begin = performance.now()
      const responded = await create(server.url, agent, 1000 + index)
      while (arrivals.length < count) await setTimeout(1)
      if (index >= WARM_UP) {
        // An event can arrive before the response.
        const each = arrivals.map((arrival) => Math.max(0, arrival - responded))
        delays.push(...each)
        lasts.push(Math.max(...each))
        responses.push(responded - begin)
      }
      await setTimeout(PAUSE_MS)
    }
    for (const stream of streams) stream.destroy()
    agent.destroy()
    const figures = [
      at(delays, 0.5),
      at(delays, 0.99),
      at(delays, 1),
      at(lasts, 0.5),
      at(responses, 0.5),
    ]
    return [`${count}`, ...figures.map((milliseconds) => milliseconds.toFixed(2))]
  } finally {
    await server.stop()
  }
}

async function openStream(url: string, onEvent: () => void): Promise<IncomingMessage> {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${TOKEN}` }
  const outgoing = request(`${url}/changes?after=latest`, { headers, agent: false }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  // The first chunk is a comment. An event arrives in one chunk.
  await once(response, 'data')
  return response.on('data', onEvent).on('error', () => {})
}

/** Creates a plant, and resolves to the time of the response. */
async function create(url: string, agent: Agent, id: number): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const outgoing = request(`${url}/plants`, { method: 'POST', headers, agent })
  outgoing.end(JSON.stringify({ id, name: 'Abies alba Mill.' }))
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const responded = performance.now()
  if (response.statusCode !== 200) throw new Error(`a create got ${response.statusCode}`)
  response.resume()
  await once(response, 'end')
  return responded
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil(share * sorted.length) - 1] as number
}
