/**
 * Kills a service at random moments. `npm run test:crash` runs many more rounds, and also limits how long a start may
 * take.
 */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { StoredPlant } from '../../service/plant-store.ts'
import { type PlantRow, toPlant } from '../../src/stores/plant-row.ts'
import { checkDatabase } from '../../src/stores/sqlite/check.ts'
import { Command } from '../helpers/command.ts'
import { THREADS } from '../helpers/threads.ts'
import { creation } from './changes.ts'
import { Clients, TOKEN } from './clients.ts'
import { History } from './history.ts'
import { changesIn, LoggedChanges, yields } from './logged-changes.ts'

/** Number of kills. */
const rounds = Number(process.argv[2] ?? 2)
const isLong = rounds > 2

/** Limit for a start after a crash, in milliseconds. It applies only to the long form. */
const START_MS_MAX = 1000

/** The most changes that are acknowledged before a kill. */
const CHANGES_MAX = 1500

const file = join(t.testdir(), 'plants.db')
const history = new History()

t.test(
  'a service killed at any moment keeps every acknowledged change, and no partial one',
  async (t) => {
    const clients = new Clients(history)
    const starts: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const { command, url, took } = await start(t, round)
      if (round > 0) starts.push(took)
      const stored = storedIn(file)
      t.same(history.faults(stored), [])
      t.same(faultsOf(file), [])
      history.continueFrom(stored)
      const changes = changesIn(file)
      t.same(history.logged.faults(changes), [])
      t.ok(yields(changes, stored), 'repeating the changes yields the plants')
      // The tests below need changes of each kind.
      const enough = history.acknowledged + randomInt(round === 0 ? 500 : 1, CHANGES_MAX)
      const killAtRandom = () => {
        if (history.acknowledged >= enough) command.process.kill('SIGKILL')
      }
      if (round < rounds) await clients.run(url, killAtRandom)
      else command.process.kill('SIGKILL')
      await command.finished()
      t.equal(command.process.signalCode, 'SIGKILL')
    }
    const findings = [...checkDatabase({ file, lockTimeout: 5000 })]
    t.same(
      findings.filter(({ status }) => status === 'fault'),
      [],
    )
    const { acknowledged, answers, lost } = history
    t.comment({ rounds, acknowledged, answers, ...lost, plants: storedIn(file).length, starts })
    if (isLong) t.ok(Math.max(...starts) <= START_MS_MAX, 'a start takes at most a second')
  },
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

/** Starts the service: in every second round with several HTTP threads. */
async function start(t: Test, round: number) {
  const threads = round % 2 === 0 ? 1 : THREADS
  const begin = performance.now()
  const command = new Command(t, ['--port=0', `--threads=${threads}`, '--database', file], {
    env: { PLANT_STORE_TOKEN: TOKEN },
  })
  const url = await command.listening()
  return { command, url, took: Math.round(performance.now() - begin) }
}

/** The plants in the file, read through another connection. */
function storedIn(file: string): StoredPlant[] {
  const db = new Sqlite(file, { readonly: true }).defaultSafeIntegers()
  try {
    return db.prepare<[], PlantRow>('SELECT * FROM plants').all().map(toPlant)
  } finally {
    db.close()
  }
}

/** The faults that `plant-store check` finds. */
function faultsOf(file: string): string[] {
  const findings = [...checkDatabase({ file, lockTimeout: 5000 })]
  const faults = findings.filter(({ status }) => status === 'fault')
  return faults.map(({ subject, message }) => `${subject}: ${message}`)
}

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
