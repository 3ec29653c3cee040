/** A mirror and its source under load, with the faults that both must survive. `npm run test:mirror` runs for longer. */
import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { changesAfter, replay } from '../stores/changes.ts'
import { exported } from '../stores/plants.ts'
import { type Engines, ModelRun } from './model-run.ts'

/** The number of kills of the source, and the minimum for the mirror. */
const kills = Number(process.argv[2] ?? 2)

/** The number of plants at first: several pages. */
const PLANTS = kills > 2 ? 20_000 : 5000

const COMBINATIONS: readonly Engines[] = [
  { source: 'SQLite', mirror: 'SQLite' },
  { source: 'SQLite', mirror: 'PostgreSQL' },
  { source: 'PostgreSQL', mirror: 'SQLite' },
]

// They mostly wait.
t.jobs = COMBINATIONS.length

for (const engines of COMBINATIONS) {
  const { source, mirror } = engines
  t.test(
    `a mirror on ${mirror} of a source on ${source} survives all faults, and loses nothing`,
    { buffered: true },
    (t) => testMirror(t, engines),
  )
}

async function testMirror(t: Test, engines: Engines): Promise<void> {
  const begin = performance.now()
  const run = await ModelRun.start(t, engines, PLANTS)
  const { load, proxy } = run
  try {
    for (let round = 0; round < kills; round++) await injectFaults(run, round)
  } finally {
    await load.end()
  }
  await run.catchUp()

  const { acknowledged } = load.history
  const seconds = Math.round((performance.now() - begin) / 1000)
  t.comment({ ...engines, ...run.counts, cuts: proxy.cuts, acknowledged, seconds })
  t.same(load.requests.undocumented, [])
  const [plants, changes] = await run.withMirror((store) =>
    Promise.all([exported(store), changesAfter(store)]),
  )
  t.same(load.history.compare(plants), { lost: [], duplicated: [] })
  // On SQLite, a new log keeps the earlier changes.
  const before = engines.mirror === 'SQLite' ? [] : run.plantsBefore
  t.ok(
    isDeepStrictEqual(replay(changes, before), plants),
    'repeating its changes yields its plants',
  )
}

async function injectFaults(run: ModelRun, round: number): Promise<void> {
  await run.someWork()
  await run.cut()
  await run.someWork()
  if (round % 2 === 1) await run.restartMirror()
  else if (run.setting.disk.isMounted) await run.fillDisk()
  await run.someWork()
  if (run.setting.server !== undefined) await run.crashServer()
  if (randomInt(2) === 0) {
    await Promise.all([run.killSource(), run.killMirror()])
  } else {
    await run.killSource()
    await run.someWork()
    await run.killMirror()
  }
}
