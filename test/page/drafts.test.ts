/** Drafts. `../interleavings/drafts.test.ts` tests conflicts with what others store. */

import t, { type Test } from 'tap'
import { createClient, type StoredPlant } from '../../client/client.ts'
import { save } from '../../page/changes/change-run.ts'
import type { Draft } from '../../page/drafts/draft.ts'
import { Drafts, type Saver } from '../../page/drafts/drafts.ts'
import { answered, type Fault, lost, startFaultyProxy } from '../client/faulty-proxy.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { type Service, startService } from '../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const acer = { id: 1n, name: 'Acer' }

interface Saved {
  readonly id: bigint
  readonly plant?: unknown
  readonly wasOpen: boolean
  readonly isOvertaken: boolean
}

/** Drafts, and what sends them to a service that meets faults. */
async function begin(t: Test, faults: Fault[] = [], token = service.token) {
  const { url } = await startFaultyProxy(t, service, faults)
  const drafts = new Drafts()
  const saved: Saved[] = []
  const client = createClient({ url, token, retries: 0 })
  const saver: Saver = {
    save: (intent, isUncertain) => save(client, intent, true, isUncertain),
    onSaved: ({ id, plant }, { wasOpen, isOvertaken }) => {
      saved.push({ id, plant, wasOpen, isOvertaken })
    },
  }
  return { drafts, saver, saved }
}

/** Stores a plant and opens a draft of it. */
async function beginEdit(t: Test, faults?: Fault[]) {
  await store('Acer')
  const begun = await begin(t, faults)
  begun.drafts.edit(acer)
  return { ...begun, draft: begun.drafts.open as Draft }
}

/** Adds a plant that nobody has typed. */
function restore(drafts: Drafts, { id, ...after }: StoredPlant, saver: Saver): Promise<void> {
  return drafts.carryOut({ id, before: undefined, after }, saver)
}

async function store(name: string, tag?: string): Promise<void> {
  await importPlants(service.store, [{ id: 1n, name, ...(tag && { tag }) }], 'replace')
}

/** A request that is not forwarded before the test says so. */
function waiting() {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const { promise, resolve: proceed } = Promise.withResolvers<void>()
  const wait: Fault = async ({ forward, response }) => {
    arrive()
    await promise
    const { status, headers, body } = await forward()
    response.writeHead(status, headers).end(body)
  }
  return { arrived, proceed, wait }
}

t.test('a new plant', async (t) => {
  const { drafts, saver, saved } = await begin(t)
  drafts.add('100')
  const { key } = drafts.open as Draft
  t.same(drafts.unsaved, [], 'nothing is lost if nothing was typed')
  drafts.type(key, { name: 'Abies', tag: '' })
  t.equal(drafts.unsaved.length, 1)
  await drafts.send(key, saver)
  t.same(drafts.all, [])
  t.equal(drafts.open, undefined)
  t.match(saved, [{ id: 100n, plant: { name: 'Abies', tag: '' }, wasOpen: true }])
  t.match(await service.stored(100n), { name: 'Abies', tag: '' })
})

for (const { what, name, token, failure, state, problem } of [
  { what: 'what the service refuses must be changed', name: 'a\0b', state: 'refused' },
  { what: 'a rejected token keeps the draft', token: 'wrong', state: 'unsent' },
  {
    what: 'a bug is not a reason to send again',
    failure: new TypeError('a bug'),
    state: 'refused',
    problem: /a bug/,
  },
]) {
  t.test(what, async (t) => {
    const { drafts, saver } = await begin(t, [], token)
    const failing = { ...saver, ...(failure && { save: () => Promise.reject(failure) }) }
    drafts.add('1.5')
    const { key } = drafts.open as Draft
    await drafts.send(key, failing)
    t.match(drafts.open, { state: 'refused', problem: /whole number/, problemField: 'id' })
    drafts.type(key, { id: '102', name: name ?? 'Abies' })
    t.match(drafts.open, { state: 'editing', problem: undefined })
    await drafts.send(key, failing)
    t.match(drafts.all, [{ state, typed: { id: '102' }, ...(problem && { problem }) }])
    t.equal(drafts.unsent.length, state === 'unsent' ? 1 : 0)
  })
}

t.test('a draft without changes is forgotten, and one with changes is kept', async (t) => {
  const { drafts, draft } = await beginEdit(t)
  drafts.close()
  t.same(drafts.all, [])
  drafts.edit(acer)
  drafts.type((drafts.open as Draft).key, { tag: 'Tree' })
  drafts.add('5')
  drafts.add('6')
  t.match(drafts.open, { typed: { id: '5' } }, 'the plant to add is continued')
  drafts.type((drafts.open as Draft).key, { id: '5' })
  t.same(
    drafts.all.map(({ typed }) => typed.id),
    ['1', '5'],
  )
  drafts.edit(acer)
  t.match(drafts.open, { typed: { tag: 'Tree' } }, 'editing goes on')
  t.equal(drafts.all.length, 1)
  drafts.clear()
  t.same(drafts.all, [])
  const { saver } = await begin(t)
  drafts.type(draft.key, { name: 'too late' })
  drafts.keepEditing(draft.key)
  await drafts.choose(draft.key, 'name', 'mine', saver)
  await drafts.send(draft.key, saver)
  t.same(drafts.all, [])
})

t.test('a plant to add that is not sent yet is continued', async (t) => {
  const { drafts, saver } = await begin(t, [lost])
  await restore(drafts, { id: 106n, name: 'deleted' }, saver)
  drafts.add('7')
  const { key } = drafts.open as Draft
  drafts.type(key, { name: 'Abies' })
  drafts.add('8')
  t.match(drafts.open, { key, typed: { id: '7', name: 'Abies' } })
  t.equal(drafts.all.length, 2)
})

t.test('what the connection loses is kept, and can be sent again', async (t) => {
  const { drafts, saver, draft, saved } = await beginEdit(t, [lost, answered(502)])
  drafts.type(draft.key, { name: 'Acer rubrum' })
  await drafts.send(draft.key, saver)
  t.match(drafts.unsent, [{ state: 'unsent', problem: 'The service could not be reached.' }])
  t.same(drafts.waiting, [], 'its editor shows it')
  drafts.close()
  t.match(drafts.waiting, [{ state: 'unsent' }])
  await drafts.sendAll(saver)
  t.match(drafts.unsent, [{ state: 'unsent', problem: /status 502/ }])
  await drafts.sendAll(saver)
  t.same(drafts.all, [])
  t.match(saved, [{ id: 1n, wasOpen: false }])
  t.match(await service.stored(1n), { name: 'Acer rubrum' })
})

t.test('what could not be sent is sent again once the service is back', async (t) => {
  const { drafts, saver, draft, saved } = await beginEdit(t, [lost])
  drafts.type(draft.key, { name: 'Acer rubrum' })
  await drafts.send(draft.key, saver)
  t.match(drafts.all, [{ state: 'unsent' }])
  await store('Acer', 'Tree')
  await drafts.resume(saver)
  t.same(drafts.all, [])
  t.match(saved, [{ id: 1n, plant: { name: 'Acer rubrum', tag: 'Tree' } }])
})

t.test('what is changed or in conflict is not sent again', async (t) => {
  const { drafts, saver, draft } = await beginEdit(t, [lost, lost])
  drafts.type(draft.key, { name: 'Acer rubrum' })
  await drafts.send(draft.key, saver)
  drafts.type(draft.key, { name: 'Acer rub' })
  await drafts.resume(saver)
  t.match(drafts.all, [{ state: 'editing' }])
  await drafts.send(draft.key, saver)
  await store('Acer nigrum')
  await drafts.resume(saver)
  t.match(drafts.all, [{ state: 'conflict', stored: { name: 'Acer nigrum' } }])
  await drafts.resume(saver)
  t.match(drafts.all, [{ state: 'conflict' }])
  t.match(await service.stored(1n), { name: 'Acer nigrum' })
})

t.test('a request that fails after the service is back is sent again, once', async (t) => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const { promise: failing, resolve: fail } = Promise.withResolvers<void>()
  const lostLate: Fault = async ({ cut }) => {
    arrive()
    await failing
    cut()
  }
  const { drafts, saver, draft, saved } = await beginEdit(t, [lostLate, lost])
  drafts.type(draft.key, { name: 'Acer rubrum' })
  const sent = drafts.send(draft.key, saver)
  await arrived
  await drafts.resume(saver)
  fail()
  await sent
  t.match(drafts.all, [{ state: 'unsent' }])
  await drafts.resume(saver)
  t.match(saved, [{ id: 1n }])
})

t.test(
  'a plant to add whose id is taken gets another one, or replaces the stored one',
  async (t) => {
    await store('Acer')
    const { drafts, saver } = await begin(t)
    for (const choice of ['other', 'replace']) {
      await restore(drafts, { id: 1n, name: 'mine' }, saver)
      const { key } = drafts.all[0] as Draft
      t.match(drafts.all, [{ state: 'conflict', stored: { name: 'Acer' } }])
      if (choice === 'replace') await drafts.keepMine(key, saver)
      else {
        drafts.keepEditing(key)
        t.match(drafts.all, [{ state: 'editing', typed: { id: '' } }])
        drafts.type(key, { id: '105' })
        await drafts.send(key, saver)
      }
      t.same(drafts.all, [])
    }
    t.match(await service.stored(105n), { name: 'mine' })
    t.match(await service.stored(1n), { name: 'mine' })
  },
)

t.test('another id is another plant, without a conflict', async (t) => {
  await store('Acer')
  const { drafts, saver } = await begin(t)
  await restore(drafts, { id: 1n, name: 'mine' }, saver)
  const { key } = drafts.all[0] as Draft
  drafts.type(key, { name: 'mine, too' })
  t.match(drafts.all, [{ state: 'conflict' }])
  drafts.type(key, { id: '106' })
  t.match(drafts.all, [{ state: 'editing' }])
})

t.test('an edit ends once the person has chosen what others have stored', async (t) => {
  const { drafts, saver, draft, saved } = await beginEdit(t)
  drafts.type(draft.key, { name: 'mine', tag: 'mine' })
  await store('theirs', 'theirs')
  await drafts.send(draft.key, saver)
  t.match(drafts.open, { state: 'conflict', contested: ['name', 'tag'] })
  for (const member of ['name', 'tag']) await drafts.choose(draft.key, member, 'stored', saver)
  t.same([drafts.all, saved], [[], []])
})

t.test('a conflict ends when others restore what the person has seen', async (t) => {
  const { drafts, draft } = await beginEdit(t)
  t.equal(drafts.observe({ id: 2n, plant: { name: 'other' } }), false)
  drafts.type(draft.key, { name: 'mine' })
  drafts.observe({ id: 1n, plant: { name: 'theirs' } })
  t.match(drafts.open, { state: 'conflict', stored: { name: 'theirs' } })
  drafts.observe({ id: 1n, plant: { name: 'Acer' } })
  t.match(drafts.open, { state: 'editing', typed: { name: 'mine' } })
})

t.test('a change by others reaches a deletion', async (t) => {
  const { drafts, saver } = await begin(t, [lost, lost])
  await drafts.delete(acer, saver)
  drafts.observe({ id: 1n, plant: undefined })
  t.match(drafts.all, [], 'somebody else has deleted it')
  await drafts.delete(acer, saver)
  t.match(drafts.all, [{ state: 'unsent' }])
  drafts.edit(acer)
  t.match(drafts.all, [{ isDeletion: false }], 'the person has changed their mind')
  drafts.close()
})

t.test('an undo that the person changes, or decides about, can be taken back itself', async (t) => {
  await store('Abies')
  const { drafts, saver } = await begin(t, [lost])
  const undo = { isUndo: true }
  await drafts.carryOut({ ...acer, before: undefined, after: { name: 'Acer' } }, saver, undo)
  t.match(drafts.all, [{ state: 'unsent', isUndo: true }])
  const key = Number(drafts.all[0]?.key)
  drafts.type(key, { tag: 'Tree' })
  t.match(drafts.find(key), { isUndo: false })
  drafts.discard(key)
  await drafts.carryOut({ ...acer, before: undefined, after: { name: 'Acer' } }, saver, undo)
  t.match(drafts.all, [{ state: 'conflict', isUndo: false }])
})

t.test('what is saved after all drafts were discarded is not reported', async (t) => {
  const { arrived, proceed, wait } = waiting()
  const { drafts, saver, draft, saved } = await beginEdit(t, [wait])
  drafts.type(draft.key, { name: 'Acer rubrum' })
  const sent = drafts.send(draft.key, saver)
  await arrived
  drafts.clear()
  proceed()
  await sent
  t.same([drafts.all, saved], [[], []])
  t.match(await service.stored(1n), { name: 'Acer rubrum' })
})
