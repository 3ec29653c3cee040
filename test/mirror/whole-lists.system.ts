/** A mirror never shows or keeps a part of a list, on any pair of engines. */
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import t, { type Test } from 'tap'
import {
  isConsistent,
  type RestrictionStep,
  restrict,
  STEP_TEXT_MAX,
} from '../../service/restriction.ts'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import type { MirrorSource } from '../../src/mirror/source.ts'
import { SourceUnavailable } from '../../src/mirror/source-failures.ts'
import { each, removals } from '../helpers/plants/lists.ts'
import { createIn, removeFrom } from '../helpers/plants/single-changes.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { type Engine, postgres, sqlite } from '../helpers/service/engine.ts'
import { type Service, startOn, startService } from '../helpers/service/service.ts'
import { latest } from '../stores/feed-reads.ts'
import { plantsOf, TestMirror, withRestrict } from './mirrored.ts'

const ENGINES: Record<string, Engine> = { SQLite: sqlite, PostgreSQL: await postgres() }

/** As many as a list of a request, and a page, can have. */
const IDS = Array.from({ length: 1000 }, (_, index) => BigInt(index))

/** A service on an engine. */
function startSource(t: Test, engine = sqlite): Promise<Service> {
  startOn(t, engine)
  return startService(t, { inFile: true })
}

/** Replaces all plants in one list. */
async function replaceAll({ store }: Service, name: string): Promise<void> {
  await store.apply(
    each(
      'put',
      IDS.map((id) => ({ id, name })),
    ),
    'all-or-none',
  )
}

/** Changes another plant, so that pages of changes end within lists. */
async function shiftPages({ store }: Service, count = 300): Promise<void> {
  for (let change = 0; change < count; change++) {
    await store.apply([{ type: 'put', id: -1n, name: `${change}` }], 'all-or-none')
  }
}

/** The names that the plants of the list have. Undefined stands for those that are missing. */
function namesIn(plants: readonly StoredPlant[]): Set<string | undefined> {
  const names = new Map(plants.map(({ id, name }) => [id, name]))
  return new Set(IDS.map((id) => names.get(id)))
}

/** A store of a mirror that looks at the plants after each step, unless the mirror cannot be read. */
function observed(copy: TestMirror) {
  const steps: RestrictionStep[] = []
  const shown: (string | undefined)[][] = []
  const store = withRestrict(copy.store, async (step) => {
    const result = await restrict(copy.store, step)
    steps.push(step)
    if (isConsistent(await copy.position())) {
      shown.push([...namesIn(await plantsOf(copy.store))])
    }
    return result
  })
  return { store, steps, shown }
}

/** As a service whose version does not say where transactions end. */
function unmarked(source: MirrorSource): MirrorSource {
  return {
    url: source.url,
    readPlants: (after) => source.readPlants(after),
    readChanges: async (after, wait) => {
      const { changes, cursor } = await source.readChanges(after, wait)
      return { changes: changes.map(({ endsTransaction: _, ...change }) => change), cursor }
    },
  }
}

for (const [from, sourceEngine] of Object.entries(ENGINES)) {
  for (const [to, engine] of Object.entries(ENGINES)) {
    t.test(`a mirror in ${to} that is behind its source in ${from} has whole lists`, async (t) => {
      const source = await startSource(t, sourceEngine)
      const copy = await TestMirror.open(t, source, engine)
      await replaceAll(source, 'first')
      await copy.run()
      await shiftPages(source)
      for (let round = 0; round < 5; round++) await replaceAll(source, `${round}`)
      await source.store.apply(removals(IDS), 'all-or-none')
      const { store, shown } = observed(copy)
      await copy.run({ store })
      t.ok(shown.length > 3, 'it applies them in several steps')
      for (const names of shown) t.equal(names.length, 1, `${names}`)
      t.strictSame(shown.at(-1), [undefined])
      t.equal((await copy.position()).cursor, await latest(source.store))
    })
  }
}

t.test('a mirror of a source that does not mark transactions has whole lists too', async (t) => {
  const source = await startSource(t)
  const copy = await TestMirror.open(t, source)
  await copy.run({ through: unmarked })
  await shiftPages(source)
  await replaceAll(source, 'first')
  await replaceAll(source, 'second')
  const { store, shown } = observed(copy)
  await copy.run({ store, through: unmarked })
  t.strictSame(shown, [['second']], 'it applies all up to the end of the feed at once')
})

t.test('a mirror whose source is lost after a page has whole lists when promoted', async (t) => {
  const source = await startSource(t)
  const copy = await TestMirror.open(t, source)
  await replaceAll(source, 'before')
  await copy.run()
  await shiftPages(source)
  const complete = await latest(source.store)
  await replaceAll(source, 'after')
  let pages = 0
  const lost = new AbortController()
  await copy.run({
    signal: lost.signal,
    through: (source) => ({
      url: source.url,
      readPlants: (after) => source.readPlants(after),
      readChanges: (after, wait) => {
        if (pages++ === 0) return source.readChanges(after, wait)
        lost.abort()
        throw new SourceUnavailable('lost')
      },
    }),
  })
  t.equal((await copy.position()).cursor, complete)
  t.match(await runHere(['promote', '--database', copy.database]), { code: 0 })
  t.strictSame([...namesIn(await plantsOf(copy.store))], ['before'])
  t.match(await runHere(['check', '--database', copy.database]), { code: 0 })
})

t.test('a page of changes that affect too much text is applied in smaller steps', async (t) => {
  const source = await startSource(t)
  const copy = await TestMirror.open(t, source)
  const count = 1 + STEP_TEXT_MAX / 2 ** 20
  const ids = IDS.slice(0, count)
  for (const id of ids) await createIn(source.store, { id, name: 'x'.repeat(2 ** 20) })
  await copy.run()
  for (const id of ids) await removeFrom(source.store, id)
  const results: string[] = []
  await copy.run({
    store: withRestrict(copy.store, async (step) => {
      const result = await restrict(copy.store, step)
      results.push(result)
      return result
    }),
  })
  t.ok(results.includes('too-large'))
  t.ok(isConsistent(await copy.position()))
  t.strictSame(await plantsOf(copy.store), [])
})

/** Makes 4,000 changes. */
const RENAME_OFTEN = 'UPDATE plants SET name = name || id;'.repeat(4)

/** Changes that no request can make at once, and the names afterwards. */
const LARGE = {
  SQLite: (database: string) => {
    const db = new Sqlite(database)
    db.exec("UPDATE plants SET name = 'by SQL'; UPDATE plants SET name = 'by SQL again'")
    db.exec(`BEGIN; ${RENAME_OFTEN} UPDATE plants SET name = 'large'; COMMIT`)
    db.close()
    return 'large'
  },
  PostgreSQL: async (database: string) => {
    const client = new pg.Client({ connectionString: database })
    await client.connect()
    await client.query(`BEGIN; ${RENAME_OFTEN} TRUNCATE plants; COMMIT`)
    await client.end()
    return undefined
  },
}

for (const [name, change] of Object.entries(LARGE)) {
  t.test(`a mirror of ${name} is hidden while it applies a part of a transaction`, async (t) => {
    const source = await startSource(t, ENGINES[name])
    const copy = await TestMirror.open(t, source)
    await replaceAll(source, 'before')
    await copy.run()
    const last = await change(source.database)
    const { store, steps, shown } = observed(copy)
    const refused: string[] = []
    const during = withRestrict(copy.store, async (step) => {
      if (!isConsistent(step.expected as never)) {
        const { code, stderr } = await runHere(['promote', '--database', copy.database])
        refused.push(`${code} ${stderr}`)
      }
      return store.restrict(step)
    })
    const transactionMax = { changes: 1500, text: 2 ** 20 }
    await copy.run({ store: during, transactionMax })
    for (const names of shown) t.equal(names.length, 1, `${names}`)
    t.strictSame(shown.at(-1), [last])
    const [hiding, ...parts] = steps.slice(
      steps.findIndex(({ next }) => !isConsistent(next as never)),
    )
    t.strictSame(hiding?.changes, undefined, 'it is hidden before the first part is applied')
    t.ok(parts.length > 0)
    t.equal(refused.length, parts.length)
    for (const each of refused) t.match(each, /^1 .*still copying the plants/)
    t.ok(copy.lines.some((line) => line.includes('reads get 503')))
    t.equal(copy.lines.at(-1), 'caught up')
  })
}

t.test('a mirror that was killed within a transaction is hidden until it has all', async (t) => {
  const source = await startSource(t)
  const copy = await TestMirror.open(t, source)
  await replaceAll(source, 'before')
  await copy.run()
  const db = new Sqlite(source.database)
  db.exec(`BEGIN; ${RENAME_OFTEN} UPDATE plants SET name = 'large'; COMMIT`)
  db.close()
  const killed = new AbortController()
  let parts = 0
  const store = withRestrict(copy.store, async (step) => {
    const result = await restrict(copy.store, step)
    if (!isConsistent(step.next as never) && ++parts === 2) killed.abort()
    return result
  })
  const transactionMax = { changes: 500, text: 2 ** 20 }
  await copy.run({ store, transactionMax, signal: killed.signal })
  t.notOk(isConsistent(await copy.position()))
  t.ok(namesIn(await plantsOf(copy.store)).size > 1)
  const next = observed(copy)
  await copy.run({ store: next.store, transactionMax })
  t.strictSame(next.shown, [['large']])
})
