import type { Test } from 'tap'
import {
  incompleteError,
  isConsistent,
  type MirrorRestriction,
  type Restriction,
  type RestrictionStep,
  readRestriction,
  restrict,
  restrictedError,
} from '../../../service/restriction.ts'
import type { NewPlant } from '../../../service/store/plant-store.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { WebhookStore } from '../../../service/webhook-store.ts'
import type { Store } from '../../../src/stores/shared/store.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createAll, each, removals } from '../../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../../helpers/plants/single-changes.ts'
import { changesAfter, contentOf, latest, replay } from '../feed-reads.ts'
import { exported, MAX, MIN } from '../plants.ts'
import { type Engine, opener } from '../store-suite.ts'
import { newWebhook } from './webhook-suite.ts'

const MIRROR: MirrorRestriction = { source: 'https://source.example', cursor: 'x' }
const BEGIN: RestrictionStep = { expected: undefined, next: { ...MIRROR, copyFrom: MIN } }
const FREEZE: RestrictionStep = { expected: undefined, next: 'frozen' }
const UNFREEZE: RestrictionStep = { expected: 'frozen', next: undefined }

/** Restrictions of which each two differ. */
const RESTRICTIONS: readonly (Restriction | undefined)[] = [
  undefined,
  'frozen',
  MIRROR,
  { ...MIRROR, source: 'https://other.example/it\'s "x"/\u{1f331}' },
  { ...MIRROR, cursor: 'y' },
  { ...MIRROR, consistentAt: 'x' },
  { ...MIRROR, consistentAt: 'y', copyFrom: 0n },
  ...[MIN, 0n, MAX].map((copyFrom) => ({ ...MIRROR, copyFrom })),
]

const A = { id: 1n, name: 'a' }
const B = { id: 2n, name: 'b', tag: '' }
const C = { id: 3n, name: 'c', tag: 'x' }

type Calls = Readonly<Record<string, (store: Store) => Promise<unknown>>>

/** Every kind of change to plants. Plant A exists, and plant B does not. */
const CHANGES: Calls = {
  create: (store) => createIn(store, B),
  put: (store) => store.change({ ...A, type: 'put', name: 'x' }),
  createAll: (store) => createAll(store, [B, C]),
  replace: (store) => store.change({ ...A, type: 'replace', name: 'x' }),
  update: (store) => updateIn(store, A.id, { name: 'x' }),
  remove: (store) => removeFrom(store, A.id),
  importPlants: (store) => importPlants(store, [B, A], 'replace'),
}

/** Changes that have no effect if plant A exists, and plant B does not. */
const WITHOUT_EFFECT: Calls = {
  'a replayed create': (store) => createIn(store, A),
  'a create that conflicts': (store) => createIn(store, { ...A, name: 'x' }),
  'an equal put': (store) => store.change({ ...A, type: 'put' }),
  'an equal replacement': (store) => store.change({ ...A, type: 'replace' }),
  'an equal update': (store) => updateIn(store, A.id, { name: A.name }),
  'an update of another version': (store) => updateIn(store, A.id, { name: 'x' }, ['x']),
  'an update of no plant': (store) => updateIn(store, B.id, { name: 'x' }),
  'a conditional update of no plant': (store) => updateIn(store, B.id, { name: 'x' }, ['x']),
  'a removal of another version': (store) => removeFrom(store, A.id, ['x']),
  'a removal of no plant': (store) => removeFrom(store, B.id),
  'a conditional removal of no plant': (store) => removeFrom(store, B.id, ['x']),
  'a list of equal changes': (store) =>
    store.apply([...each('put', [A]), ...each('create', [A])], 'each'),
  'a list without matches': (store) => store.apply(removals([B.id, C.id]), 'each'),
  'a refused list': (store) =>
    store.apply([{ type: 'remove', id: A.id, expected: ['x'] }], 'all-or-none'),
}

const READS: Calls = {
  get: (store) => store.get(A.id),
  'get of no plant': (store) => store.get(B.id),
  list: (store) => store.list({ limit: 1 }),
  'list by tag': (store) => store.list({ limit: 1, tag: 'x' }),
  getAll: (store) => store.getAll([B.id]),
  search: (store) => store.list({ limit: 1, words: ['a'] }),
  'search by tag': (store) => store.list({ limit: 1, words: ['a'], tag: 'x' }),
  'search without tag': (store) => store.list({ limit: 1, tag: null }),
  count: (store) => store.count({}),
  'count by tag': (store) => store.count({ tag: 'x' }),
  'count by text': (store) => store.count({ words: ['a'] }),
  listTags: (store) => store.listTags({ limit: 1 }),
  readChanges: (store) => store.readChanges({ limit: 1 }),
  'readChanges at the end': (store) => store.readChanges({ after: 'latest', limit: 1 }),
  exportPlants: (store) => exported(store),
  ping: (store) => store.ping(),
}

/** The requirements of RestrictionStore. */
export function restrictionSuite(t: Test, engine: Engine): void {
  t.test('a step is made only if the restriction is the expected one', async (t) => {
    const store = await openOne(t, engine, true)
    for (const [index, current] of RESTRICTIONS.entries()) {
      const previous = RESTRICTIONS.at(index - 1)
      if (index > 0) t.equal(await restrict(store, { expected: previous, next: current }), 'done')
      for (const expected of RESTRICTIONS) {
        if (expected === current) continue
        const result = await restrict(store, {
          expected,
          next: 'frozen',
          changes: each('put', [A]),
        })
        t.equal(result, 'unexpected')
      }
      t.same(await readRestriction(store), current)
    }
    t.same(await exported(store), [])
  })

  t.test('a part that is undefined equals one that is missing', async (t) => {
    const store = await openOne(t, engine)
    await restrict(store, { expected: undefined, next: MIRROR })
    const expected = { ...MIRROR, copyFrom: undefined, consistentAt: undefined }
    t.equal(await restrict(store, { expected, next: expected }), 'done')
    t.equal(await restrict(store, { expected: MIRROR, next: 'frozen' }), 'done')
  })

  t.test('a database with plants cannot become a mirror, but can be frozen', async (t) => {
    const store = await openOne(t, engine)
    await createIn(store, A)
    t.equal(await restrict(store, BEGIN), 'not-empty')
    t.equal(
      await restrict(store, { ...BEGIN, next: MIRROR, changes: each('put', [B]) }),
      'not-empty',
    )
    t.equal(await readRestriction(store), undefined)
    t.equal(await createIn(store, B), 'created', 'changes are still possible')
    t.equal(await restrict(store, FREEZE), 'done')
  })

  t.test('a database whose restriction has ended cannot become a mirror', async (t) => {
    for (const previous of ['frozen', MIRROR] as const) {
      const store = await openOne(t, engine)
      await restrict(store, { expected: undefined, next: previous })
      await restrict(store, { expected: previous, next: undefined })
      for (const stored of [[], [A]]) {
        if (stored.length > 0) await createAll(store, stored)
        t.equal(await restrict(store, BEGIN), 'not-new')
        t.equal(await readRestriction(store), undefined)
      }
      t.equal(await restrict(store, FREEZE), 'done')
      await t.rejects(createIn(store, B), { ...restrictedError('frozen') })
      t.equal(await restrict(store, UNFREEZE), 'done')
      t.equal(await createIn(store, B), 'created')
    }
  })

  for (const [what, restriction] of [
    ['frozen database', 'frozen'],
    ['mirror', MIRROR],
    ['mirror that is still copying', { ...MIRROR, copyFrom: MIN }],
  ] as [string, Restriction][]) {
    t.test(`a ${what} refuses all other changes to plants until it is released`, async (t) => {
      const store = await openOne(t, engine)
      await restrict(store, { expected: undefined, next: restriction, changes: each('put', [A]) })
      const changes = Object.entries({ ...WITHOUT_EFFECT, ...CHANGES })
      for (const [name, change] of changes) {
        await t.rejects(change(store), { ...restrictedError(restriction) }, name)
      }
      await restrict(store, { expected: restriction, next: undefined })
      t.strictSame(await exported(store), [A])
      t.strictSame(await store.get(A.id), A)
      for (const [name, change] of changes) await t.resolves(change(store), name)
      t.strictSame(await exported(store), [A, B, C])
    })
  }

  t.test('an incomplete mirror refuses every read, and a complete one none', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const manager = await open({ readsIncomplete: true })
    let expected: Restriction | undefined
    for (const next of [
      BEGIN.next,
      { ...MIRROR, copyFrom: 5n },
      { ...MIRROR, consistentAt: 'y' },
      MIRROR,
      { ...MIRROR, consistentAt: 'z' },
      BEGIN.next,
      MIRROR,
      undefined,
      'frozen' as const,
    ]) {
      await restrict(store, { expected, next, changes: next === MIRROR ? each('put', [A]) : [] })
      expected = next
      const isIncomplete = typeof next === 'object' && !isConsistent(next)
      for (const [name, read] of Object.entries(READS)) {
        if (isIncomplete) await t.rejects(read(store), { ...incompleteError(MIRROR) }, name)
        else await t.resolves(read(store), name)
        await t.resolves(read(manager), name)
      }
    }
  })

  t.test('what a restriction permits does not fail with what it refuses', async (t) => {
    const store = await openOne(t, engine)
    await restrict(store, FREEZE)
    const webhooks = new WebhookStore(store)
    const [created, added, removed] = await Promise.allSettled([
      createIn(store, A),
      webhooks.add(newWebhook('a')),
      removeFrom(store, A.id),
    ])
    const refused = { status: 'rejected', reason: { ...restrictedError('frozen') } }
    t.match([created, removed], [refused, refused])
    t.same(added, { status: 'fulfilled', value: 'added' })
  })

  t.test('tokens and webhooks are not restricted', async (t) => {
    const store = await openOne(t, engine)
    await restrict(store, FREEZE)
    const token = { name: 'ci', digest: new Uint8Array(32), scopes: [], createdAt: new Date(0) }
    t.ok(await new TokenStore(store).add(token))
    await new TokenStore(store).noteUse(token.name, new Date(1))
    t.ok(await new TokenStore(store).remove(token.name))
    t.ok(await new TokenStore(store).add(token, 1))
    t.equal(await new WebhookStore(store).add(newWebhook('a')), 'added')
    t.equal(await new WebhookStore(store).lease('process'), true)
    await new WebhookStore(store).release('process')
    t.equal(await new WebhookStore(store).remove('a'), true)
    await store.ping()
  })

  t.test('a step takes effect only if it does what its mirror expects', async (t) => {
    const store = await openOne(t, engine)
    const other = { id: -1n, name: 'other' }
    const before = [other, A, B]
    await restrict(store, { expected: undefined, next: MIRROR, changes: each('put', before) })
    const start = await latest(store)
    const next = { ...MIRROR, cursor: 'y' }
    const stored = [C, { ...B, name: 'changed' }, other]
    const step = {
      expected: MIRROR,
      next,
      changes: [...each('put', stored), ...removals([A.id, -2n])],
    }
    for (const [created, removed] of [
      [2, 1],
      [1, 2],
    ] as const) {
      t.equal(await restrict(store, { ...step, effect: { created, removed } }), 'diverged')
      t.strictSame(await exported(store), before)
      t.same(await readRestriction(store), MIRROR)
    }
    t.equal(await restrict(store, { ...step, effect: { created: 1, removed: 1 } }), 'done')
    t.strictSame(await exported(store), [other, { ...B, name: 'changed' }, C])
    t.same(await readRestriction(store), next)
    const found = (await changesAfter(store, start)).sort((a, b) => (a.id < b.id ? -1 : 1))
    t.strictSame(found.map(contentOf), [
      ['removed', A.id],
      ['changed', B.id, { name: 'changed', tag: '' }],
      ['created', C.id, { name: 'c', tag: 'x' }],
    ])
  })

  t.test('a diverged step does not begin or end a restriction', async (t) => {
    const store = await openOne(t, engine)
    const effect = { created: 1, removed: 0 }
    t.equal(await restrict(store, { ...FREEZE, effect }), 'diverged')
    t.equal(await createIn(store, A), 'created')
    await restrict(store, FREEZE)
    t.equal(await restrict(store, { ...UNFREEZE, effect }), 'diverged')
    await t.rejects(createIn(store, B), { ...restrictedError('frozen') })
  })

  t.test('a step with an error that is a bug changes nothing', async (t) => {
    const store = await openOne(t, engine)
    const mistyped = { id: 1n, name: null as unknown } as NewPlant
    await t.rejects(restrict(store, { ...FREEZE, changes: each('put', [B, mistyped]) }), {
      message: /null/i,
    })
    t.equal(await readRestriction(store), undefined)
    t.strictSame(await exported(store), [])
  })

  t.test(
    'a mirror begins without plants of its own, also if one is created meanwhile',
    async (t) => {
      for (let round = 0; round < 3; round++) {
        const open = await opener(t, engine)
        const [one, other] = [await open({ readsIncomplete: true }), await open()]
        const [before, begun, after] = await Promise.all([
          createIn(other, A).catch(() => 'refused'),
          restrict(one, BEGIN),
          createIn(one, B).catch(() => 'refused'),
        ])
        const made = [before === 'created' ? A : [], after === 'created' ? B : []].flat()
        t.strictSame(await exported(one), made)
        t.equal(begun, made.length === 0 ? 'done' : 'not-empty')
      }
    },
  )

  t.test('of concurrent steps with the same expectation, one is made', async (t) => {
    const stores = await openTwo(t, engine)
    let expected: Restriction | undefined
    for (let round = 0n; round < 4n; round++) {
      const plants = [0n, 1n, 2n, 3n].map((index) => ({ id: round * 10n + index, name: 'x' }))
      const steps = plants.map((plant) => ({
        expected,
        next: { ...MIRROR, cursor: `after ${plant.id}` },
        changes: each('put', [plant]),
      }))
      const results = await Promise.all(
        steps.map((step, index) => restrict(stores[index % 2] as Store, step)),
      )
      const lost = round === 0n ? /^(unexpected|not-empty)$/ : 'unexpected'
      t.match([...results].sort(), ['done', lost, lost, lost])
      const winner = results.indexOf('done')
      expected = steps[winner]?.next
      t.same(await readRestriction(stores[0]), expected)
      t.strictSame((await exported(stores[1])).slice(Number(round)), [plants[winner]])
    }
  })

  for (const [what, expected] of [
    ['first copy', undefined],
    ['further copy', MIRROR],
  ] as const) {
    t.test(`cursors expire when a ${what} begins`, async (t) => {
      const store = await openOne(t, engine, true)
      await createIn(store, A)
      const cursors = [await latest(store)]
      await removeFrom(store, A.id)
      cursors.push(await latest(store))
      if (expected !== undefined) {
        await restrict(store, { expected: undefined, next: expected })
        cursors.push(await latest(store))
      }
      t.equal(await restrict(store, { ...BEGIN, expected }), 'done')
      for (const after of cursors) {
        t.equal(await store.readChanges({ after, limit: 1 }), 'expired')
      }
      const start = await latest(store)
      await restrict(store, { expected: BEGIN.next, next: MIRROR, changes: each('put', [A, B]) })
      await restrict(store, {
        expected: MIRROR,
        next: MIRROR,
        changes: [...each('put', [C]), ...removals([A.id])],
      })
      const changes = await changesAfter(store, start)
      t.equal(changes.length, 4)
      t.strictSame(replay(changes), [B, C])
      t.strictSame(replay(await changesAfter(store)), [B, C])
    })
  }

  t.test('other steps keep the cursors valid', async (t) => {
    const store = await openOne(t, engine)
    const start = await latest(store)
    await restrict(store, { expected: undefined, next: MIRROR })
    await restrict(store, { expected: MIRROR, next: { ...MIRROR, copyFrom: MIN + 1n } })
    await restrict(store, { expected: { ...MIRROR, copyFrom: MIN + 1n }, next: undefined })
    await restrict(store, FREEZE)
    await restrict(store, UNFREEZE)
    await createIn(store, A)
    t.strictSame((await changesAfter(store, start)).map(contentOf), [
      ['created', A.id, { name: 'a' }],
    ])
  })

  t.test('a restriction outlives the store, and applies to all others', async (t) => {
    const open = await opener(t, engine)
    const before = await open()
    const restriction = { ...MIRROR, copyFrom: MAX, consistentAt: 'y' }
    await restrict(before, { expected: undefined, next: restriction, changes: each('put', [A]) })
    await before.close()
    const stores = [await open(), await open()] as const
    for (const store of stores) {
      t.same(await readRestriction(store), restriction)
      await t.rejects(createIn(store, B), { ...restrictedError(restriction) })
    }
    await restrict(stores[0], { expected: restriction, next: undefined })
    t.equal(await createIn(stores[1], B), 'created')
  })
}

async function openOne(t: Test, engine: Engine, readsIncomplete = false): Promise<Store> {
  const open = await opener(t, engine)
  return open({ readsIncomplete })
}

/** Two stores that share a database. */
async function openTwo(t: Test, engine: Engine): Promise<[Store, Store]> {
  const open = await opener(t, engine)
  return [await open(), await open()]
}
