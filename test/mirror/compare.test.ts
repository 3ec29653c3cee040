import t, { type Test } from 'tap'
import { INT64_MIN } from '../../core/json/int64.ts'
import { members } from '../../core/members/members.gen.ts'
import {
  type Restriction,
  type RestrictionStep,
  readRestriction,
  restrict,
} from '../../service/restriction.ts'
import { type ComparisonOptions, compareMirror } from '../../src/mirror/compare.ts'
import { Source } from '../../src/mirror/source.ts'
import { openStore } from '../../src/stores/engines.ts'
import { answered, startFaultyProxy } from '../client/faulty-proxy.ts'
import { type FaultyService, startFaulty } from '../faults/faulty-service.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { each, removals } from '../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../helpers/plants/single-changes.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { until } from '../helpers/processes/until.ts'
import { sqlite } from '../helpers/service/engine.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { exported, MAX, MIN } from '../stores/plants.ts'

const plantsOf = (count: number) => [
  { id: MIN, name: 'first', tag: '' },
  ...Array.from({ length: count }, (_, index) => ({
    id: BigInt(index) * 1_000n,
    name: `${index}`,
  })),
  { id: MAX, name: 'last' },
]

const PLANTS = plantsOf(30)

/** More than a page. */
const MANY = plantsOf(1500)

const POSITION = String.raw`up to the mirror's position at \S+Z`

let source: Service
let injection: FaultyService['injection']
t.before(async () => {
  ;({ service: source, injection } = await startFaulty(t as Test))
})

/** Gives the source other plants, and opens a database that is a mirror of it. */
async function setUp(t: Test, plants = PLANTS) {
  injection.setFaults([])
  injection.clearRequests()
  const ids = (await exported(source.store)).map(({ id }) => id)
  while (ids.length > 0) await source.store.apply(removals(ids.splice(0, 1000)), 'each')
  await importPlants(source.store, plants, 'stop')
  const { database } = await sqlite(t)
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  const cursor = await latest(source)
  const step = async (change: Omit<RestrictionStep, 'expected'>) => {
    const expected = await readRestriction(store)
    t.equal(await restrict(store, { expected, ...change }), 'done')
  }
  const copy = { source: source.url, cursor, copyFrom: INT64_MIN }
  const mirror = { source: source.url, cursor }
  await step({ next: copy })
  await step({ next: mirror, changes: each('put', await exported(source.store)) })
  const compare = ({ url = source.url, token = source.token } = {}) =>
    runHere(['compare', url, '--database', database], { PLANT_STORE_MIRROR_TOKEN: token })
  const reader = new Source(source.url, source.token)
  /** Compares in the process, by default as the command does. */
  const compareHere = (options: Partial<ComparisonOptions> = {}) =>
    compareMirror({ cursor, mirror: store, members, source: reader, onProgress() {}, ...options })
  return { database, store, copy, mirror, step, compare, reader, compareHere }
}

async function latest({ store }: Service): Promise<string> {
  const page = await store.readChanges({ after: 'latest', limit: 1 })
  return typeof page === 'string' ? page : page.next
}

t.test('plants that have changed since the position of the mirror do not count', async (t) => {
  const { compare } = await setUp(t, MANY)
  await removeFrom(source.store, MIN)
  await updateIn(source.store, 1000n, { name: 'changed' })
  const created = MANY.slice(1, -1).map(({ id }) => ({ id: id + 1n, name: 'created' }))
  await importPlants(source.store, created, 'stop')
  await createIn(source.store, { id: 2n, name: 'created and removed' })
  await removeFrom(source.store, 2n)
  const { code, stdout } = await compare()
  t.match(
    stdout,
    new RegExp(`^equal: 1,500 plants, ${POSITION}; 1,502 others have changed since\n$`),
  )
  t.equal(code, 0)
})

t.test(
  'a mirror with the same plants is equal, and each kind of difference is found',
  async (t) => {
    const { mirror, step, compare } = await setUp(t, MANY)
    const same = await compare()
    t.match(same, { code: 0, stderr: '' })
    t.match(same.stdout, new RegExp(`^equal: 1,502 plants, ${POSITION}\n$`))
    await step({
      next: mirror,
      changes: [
        ...each('put', [
          { id: -1n, name: 'unknown to the source' },
          { id: 2000n, name: '2', tag: '' },
          { id: MAX, name: 'Last' },
        ]),
        ...removals([MIN, 4000n]),
      ],
    })
    await updateIn(source.store, 6000n, { name: 'changed' })
    const { code, stdout } = await compare()
    const [summary, ...lines] = stdout.split('\n')
    const others = '; 1 others have changed since'
    t.match(summary, new RegExp(`^found 5 differences, ${POSITION}${others}$`))
    t.same(lines, [
      `plant ${MIN}: missing here`,
      'plant -1: missing at the source',
      'plant 2000: different content',
      'plant 4000: missing here',
      `plant ${MAX}: different content`,
      '',
    ])
    t.equal(code, 2)
  },
)

t.test('only the first differences are printed', async (t) => {
  const { mirror, step, compare } = await setUp(t)
  const removed = PLANTS.slice(1, 26).map(({ id }) => id)
  await step({ next: mirror, changes: removals(removed) })
  const { code, stdout } = await compare()
  const lines = stdout.trimEnd().split('\n')
  t.match(lines[0], /^found 25 differences, /)
  t.equal(lines[20], 'plant 19000: missing here')
  t.equal(lines[21], 'and 5 more')
  t.equal(lines.length, 22)
  t.equal(code, 2)
})

t.test('an empty mirror equals an empty source, and differs from another', async (t) => {
  const { mirror, step, compare } = await setUp(t)
  await step({ next: mirror, changes: removals(PLANTS.map(({ id }) => id)) })
  t.match((await compare()).stdout, /^found 32 differences/)
  for (const { id } of PLANTS) await removeFrom(source.store, id)
  t.match((await compare()).stdout, new RegExp(`^equal: 0 plants, ${POSITION}\n$`))
})

t.test('a comparison keeps a limited number of differences', async (t) => {
  const { mirror, step, compareHere } = await setUp(t)
  const differencesMax = 3
  for (let id = 0n; id < 5000n; id += 1000n) await removeFrom(source.store, id)
  const changed = await compareHere({ differencesMax })
  t.match(changed, { equal: PLANTS.length - 5, changed: 5 })
  t.equal(changed.differences.size, 0)
  await step({ next: mirror, changes: removals([MIN]) })
  const different = await compareHere({ differencesMax })
  t.match(different, { equal: 0, changed: 2 })
  t.same([...different.differences], [[MIN, 'missing here']])
})

t.test('changes during the comparison neither count nor prolong it', async (t) => {
  const { mirror, step, reader, compareHere } = await setUp(t)
  await step({ next: mirror, changes: removals([MIN]) })
  let id = 1n
  const changing: ComparisonOptions['source'] = {
    async readPlants(after) {
      await updateIn(source.store, MAX, { name: 'changed' })
      return reader.readPlants(after)
    },
    async readChanges(after) {
      const page = await reader.readChanges(after)
      await createIn(source.store, { id: id++, name: 'created' })
      return page
    },
  }
  const result = await compareHere({ source: changing })
  t.match(result, { equal: PLANTS.length - 2, changed: 2 })
  t.same([...result.differences], [[MIN, 'missing here']])
})

t.test('a comparison ends where the feed ends, even if its last cursor was another', async (t) => {
  const { mirror, step, reader, compareHere } = await setUp(t)
  await step({ next: mirror, changes: removals([MIN]) })
  const ending: ComparisonOptions['source'] = {
    readPlants: (after) => reader.readPlants(after),
    readChanges: async (after) => ({ changes: [], cursor: after }),
  }
  const { differences } = await compareHere({ source: ending })
  t.same([...differences], [[MIN, 'missing here']])
})

t.test('a database that is no complete mirror cannot be compared', async (t) => {
  const { database, step, copy, mirror, compare } = await setUp(t)
  const refusal = async (next: Restriction | undefined, reason: string) => {
    await step({ next })
    t.same(await compare(), { code: 1, stdout: '', stderr: `plant-store: ${database} ${reason}\n` })
  }
  const copying = `is still copying the plants of ${mirror.source}`
  await refusal(copy, copying)
  await refusal({ ...mirror, consistentAt: mirror.cursor }, copying)
  await refusal('frozen', 'is not a mirror')
  await refusal(undefined, 'is not a mirror')
})

t.test('another database is not compared', async (t) => {
  const { compare } = await setUp(t)
  const { url, token } = await startService(t)
  const { code, stdout, stderr } = await compare({ url, token })
  t.match({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /^plant-store: the source does not have the changes that follow: .*\n$/)
})

t.test('a source that is unavailable for a moment is asked again', async (t) => {
  const { compare } = await setUp(t)
  injection.setFaults([
    { nth: 1, cut: 'before-work' },
    { nth: 2, error: 'store-busy' },
  ])
  t.match(await compare(), { code: 0, stdout: /^equal: 32 plants/ })
  t.match(injection.requests, [{ fault: 0 }, { fault: 1 }, { fault: undefined }])
})

t.test('a source that stays unavailable ends the comparison', async (t) => {
  const { compare } = await setUp(t)
  injection.setFaults([{ nth: 3, error: 'store-busy', retryAfter: 3600 }])
  const { code, stdout, stderr } = await compare()
  t.match({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /^plant-store: the source responds with .*503: the store is busy\n$/)
})

t.test('a source cannot control the terminal', async (t) => {
  const { compare } = await setUp(t)
  const fault = answered(200, { 'content-type': 'application/json' }, '"\u001b[2J\u009b2J\n"')
  const { url } = await startFaultyProxy(t, source, [fault])
  t.match(await compare({ url }), {
    code: 1,
    stderr: /^plant-store: .*"\\u001b\[2J\\u009b2J\\n".*\n$/,
  })
})

t.test('a signal ends the comparison', async (t) => {
  const { compare } = await setUp(t)
  injection.setFaults([{ nth: 2, delayMs: 600_000 }])
  const compared = compare()
  await until('the plants are read', () => injection.requests.length === 2)
  process.emit('SIGINT')
  t.same(await compared, { code: 130, stdout: '', stderr: 'plant-store: interrupted\n' })
})
