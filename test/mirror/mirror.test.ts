/** Mirrors of a real service. */

import assert from 'node:assert/strict'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { INT64_MAX, INT64_MIN } from '../../core/json/int64.ts'
import {
  isConsistent,
  type RestrictionStep,
  readRestriction,
  restrict,
} from '../../service/restriction.ts'
import { createAll } from '../helpers/plants/lists.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { latest } from '../stores/feed-reads.ts'
import { change, fill, plantsOf, TestMirror, withRestrict } from './mirrored.ts'

let service: Service
let copy: TestMirror
t.beforeEach(async (t) => {
  service = await startService(t as Test)
  copy = await TestMirror.open(t as Test, service)
})

/** Asserts that the mirror has the plants of a service, and can be read. */
async function isCopyOf({ store }: Service, t: Test): Promise<void> {
  // Many times faster than tap's.
  assert.deepEqual(await plantsOf(copy.store), await plantsOf(store))
  t.ok(isConsistent(await copy.position()))
}

t.test('all plants are copied, with any id and content', async (t) => {
  await fill(service.store, 1500)
  await createAll(service.store, [
    { id: INT64_MIN, name: '' },
    { id: INT64_MAX, name: '\u{1f335} "\\\n', tag: '\ufffd' },
  ])
  let steps = 0
  await copy.run({
    store: withRestrict(copy.store, (step) => {
      steps++
      return restrict(copy.store, step)
    }),
  })
  // The first begins the copy. The last page ends with the greatest id, so nothing can follow.
  t.equal(steps, 3)
  t.strictSame(copy.lines, ['copied 1000', 'copied 1502', 'caught up'])
  await isCopyOf(service, t)
  t.strictSame(await copy.position(), { source: service.url, cursor: await latest(service.store) })
})

t.test('a mirror of another database stops, and a restart reconciles it', async (t) => {
  await fill(service.store, 1500)
  await copy.run()
  const other = await startService(t)
  await fill(other.store, 1200, 'Acer')
  await change(other.store)
  await createIn(other.store, { id: 1_000_000n, name: 'last' })
  await t.rejects(copy.run({ from: other }), {
    message: /^the source does not have the changes that follow: .* with --restart/,
  })
  await isCopyOf(service, t)
  const steps: RestrictionStep[] = []
  const store = withRestrict(copy.store, (step) => {
    steps.push(step)
    return restrict(copy.store, step)
  })
  await copy.run({ store, restart: true })
  await isCopyOf(other, t)
  t.equal((await copy.position()).source, other.url)
  const [begin, ...others] = steps
  t.equal(begin?.changes, undefined)
  t.notOk(
    others.some(({ expected }) => isConsistent(expected as never)),
    'reads see no half of it',
  )
})

t.test('a mirror stops if the feed of the source no longer reaches back', async (t) => {
  const source = await startService(t, { inFile: true })
  await copy.run({ from: source })
  await change(source.store)
  const db = new Sqlite(source.database)
  db.exec('DELETE FROM changes WHERE position < (SELECT max(position) FROM changes)')
  db.close()
  await t.rejects(copy.run(), { message: /no longer retained.*with --restart/ })
  await copy.run({ restart: true })
  await isCopyOf(source, t)
})

t.test('a mirror needs a token of the source with the scope read', async (t) => {
  const { url } = service
  for (const token of ['not-a-token-of-it', await service.issueToken('writer', ['write'])]) {
    await t.rejects(copy.run({ from: { url, token } }), { message: /token create --scope read/ })
  }
})

t.test('the URL of the source can change', async (t) => {
  await copy.run()
  await change(service.store)
  const url = `http://localhost:${service.port}`
  await copy.run({ from: { url, token: service.token } })
  t.equal((await copy.position()).source, url)
  await isCopyOf(service, t)
})

t.test('a database that has plants or is frozen cannot become a mirror', async (t) => {
  await createIn(copy.store, { id: 1n, name: 'Abies' })
  await t.rejects(copy.run(), { message: /database contains plants/ })
  await restrict(copy.store, { expected: undefined, next: 'frozen' })
  await t.rejects(copy.run(), { message: /database is frozen; run "plant-store unfreeze"/ })
  t.strictSame(await plantsOf(copy.store), [{ id: 1n, name: 'Abies' }])
})

t.test('a promoted database does not become a mirror again by a later command', async (t) => {
  await copy.run()
  await restrict(copy.store, { expected: await copy.position(), next: undefined })
  await change(service.store)
  for (const restart of [false, true]) {
    await t.rejects(copy.run({ restart }), { message: /was promoted or unfrozen.* new database/ })
  }
  t.equal(await readRestriction(copy.store), undefined)
  t.strictSame(await plantsOf(copy.store), [])
})
