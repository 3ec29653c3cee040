/** Kills a service under load. `npm run test:crash` kills it many times, and also limits how long a start may take. */
import { join } from 'node:path'
import t from 'tap'
import type { StoredPlant } from '../../service/plant-store.ts'
import { creation } from '../load/changes.ts'
import { History } from './history.ts'
import { killAtRandomMoments, storedIn } from './kills.ts'
import { changesIn, LoggedChanges } from './logged-changes.ts'

const kills = Number(process.argv[2] ?? 1)
const file = join(t.testdir(), 'plants.db')
const history = new History()

t.test('a service killed under load keeps every acknowledged change, and no partial one', (t) =>
  killAtRandomMoments(t, { file, history, kills }),
)

for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
  t.test(`the test detects the loss of an acknowledged ${method}`, async (t) => {
    const [id, { before }] = lastOf(method)
    const stored = storedIn(file).filter((plant) => plant.id !== id)
    const faults = history.faults(before ? [...stored, before] : stored)
    t.equal(faults.length, 1)
    t.match(faults[0], `${id} is ${before ? '{' : 'missing'}`)
  })
}

t.test('the test detects a lost, a repeated, a swapped and a wrong change', async (t) => {
  const changes = changesIn(file)
  t.same(history.logged.faults(changes), [])
  const isRepeated = ({ id }: { id: bigint }) => changes.filter((one) => one.id === id).length > 1
  const first = changes.findIndex(isRepeated)
  const second = changes.findIndex(({ id }, index) => index > first && id === changes[first]?.id)
  const [one, other] = [changes[first], changes[second]] as [
    (typeof changes)[0],
    (typeof changes)[0],
  ]
  for (const wrong of [
    changes.toSpliced(first, 1),
    changes.toSpliced(first, 0, one),
    changes.with(first, other).with(second, one),
    changes.with(first, { ...one, type: 'changed', plant: { name: 'wrong' } }),
    [...changes, { ...one, id: 0n }],
  ]) {
    t.equal(history.logged.faults(wrong).length, 1)
  }
})

t.test('the test detects a change that an unacknowledged one hides', async (t) => {
  const logged = new LoggedChanges()
  logged.add(1n, { id: 1n, name: 'one' })
  logged.continueFrom([{ id: 1n, name: 'two' }])
  const [created, changed] = ['one', 'two'].map((name) => ({
    cursor: '',
    at: '',
    type: 'changed' as const,
    id: 1n,
    plant: { name },
  })) as [ReturnType<typeof changesIn>[0], ReturnType<typeof changesIn>[0]]
  t.same(logged.faults([created, changed]), [])
  for (const changes of [[], [created], [changed], [changed, created]]) {
    t.equal(logged.faults(changes).length, 1)
  }
})

t.test('the test detects the loss of an acknowledged contested plant', async (t) => {
  const [one, other] = [
    { id: -1n, name: 'one' },
    { id: -1n, name: 'other' },
  ]
  const cases = [
    { answers: [], possible: [[], [one], [other]], lost: [] },
    { answers: [[one, 200]], possible: [[one]], lost: [[], [other]] },
    { answers: [[one, 409]], possible: [[other]], lost: [[], [one]] },
  ] as const
  for (const { answers, possible, lost } of cases) {
    const history = new History()
    for (const plant of [one, other]) history.contest(plant)
    for (const [plant, status] of answers) history.contested(plant, status)
    for (const stored of possible) t.same(history.faults(stored), [])
    for (const stored of lost) t.equal(history.faults(stored).length, 1)
  }
})

t.test('the test detects a lost, a partial and a wrongly stored batch', async (t) => {
  const [one, two, other] = [
    { id: 1n, name: 'one' },
    { id: 2n, name: 'two' },
    { id: 1n, name: 'other' },
  ]
  const cases = [
    { sent: [one, two], possible: [[], [one, two]], impossible: [[one], [two], [other, two]] },
    { sent: [one, two], status: 200, possible: [[one, two]], impossible: [[], [one]] },
    { stored: one, sent: [one, two], possible: [[one], [one, two]], impossible: [[], [two]] },
    {
      stored: one,
      sent: [two, other],
      possible: [[one]],
      impossible: [
        [one, two],
        [other, two],
      ],
    },
    { stored: one, sent: [two, other], status: 409, possible: [[one]], impossible: [[one, two]] },
  ]
  for (const { stored, sent, status, possible, impossible } of cases) {
    const history = new History()
    if (stored !== undefined) history.answered(creation(stored), 200)
    history.sentBatch(sent)
    if (status !== undefined) history.answeredBatch(sent, status)
    for (const found of possible) t.same(history.faults(found), [])
    for (const found of impossible) t.not(history.faults(found).length, 0)
    if (status !== undefined) t.throws(() => history.answeredBatch(sent, 500))
  }
})

/** A plant whose last acknowledged change used the method and had an effect. */
function lastOf(method: string) {
  for (const [id, last] of history.last) {
    if (last.method === method && !isSame(id, last.before)) return [id, last] as const
  }
  throw new Error(`no plant was last changed by a ${method}`)
}

function isSame(id: bigint, before: StoredPlant | undefined): boolean {
  const { name, tag } = history.get(id) ?? {}
  return name === before?.name && tag === before?.tag
}
