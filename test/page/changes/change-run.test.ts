/** Runs of changes among others who change the same plants. */
import t from 'tap'
import { createClient, type StoredPlant } from '../../../client/client.ts'
import {
  answered,
  connectThrough,
  HTML,
  lostResponse,
  passed,
  tooLarge,
} from '../../client/faulty-proxy.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { adding, named, removing, renaming, run, store, tagging } from './run.ts'

const TAKEN = 'A different plant has this id'
const CHANGED = 'Somebody has changed this plant meanwhile'
const DELETED = 'Somebody has deleted this plant meanwhile'
const NOTHING = { created: 0, changed: 0, removed: 0, unchanged: 0 }

let service: Service
t.before(async () => {
  service = await startService(t)
})

const linesOf = (requests: readonly { readonly line: string }[]) => requests.map(({ line }) => line)

t.test('plants are added, changed and deleted in lists, and an undo takes it back', async (t) => {
  const stored = named('Abies', 1, 400)
  await store(service, stored)
  const { client, proxy } = await connectThrough(t, service)
  const intents = [
    ...named('Acer', 401, 200).map(adding),
    ...stored.slice(0, 200).map(tagging('Tree')),
    ...stored.slice(200).map(removing),
  ]
  const { counts, undo, unknown } = await run(t, service, intents, { client })
  t.same(counts, { created: 200, changed: 200, removed: 200, unchanged: 0 })
  t.same(linesOf(proxy.requests), Array(2).fill('PATCH /plants'))
  t.same([undo.length, unknown], [600, 0])
  t.same([await service.count('Abies'), await service.count('Acer')], [200, 200])
  t.match(await service.stored(200n), { name: 'Abies', tag: 'Tree' })

  const back = await run(t, service, undo.toReversed())
  t.same(back.counts, { created: 200, changed: 200, removed: 200, unchanged: 0 })
  t.same(await Array.fromAsync(createClient(service).plants()), stored)
})

t.test('what is as wanted is not sent', async (t) => {
  const [plant] = named('Alnus', 2001, 1)
  const { client, proxy } = await connectThrough(t, service)
  const absent = { id: 2002n, before: undefined, after: undefined }
  const { counts } = await run(t, service, [renaming('Alnus')(plant as never), absent], { client })
  t.same(counts, { ...NOTHING, unchanged: 2 })
  t.same(proxy.requests, [])
})

t.test('plants that are all there already may be those of others', async (t) => {
  const plants = named('Aronia', 2011, 3)
  await store(service, plants)
  const { counts, undo, unknown } = await run(t, service, plants.map(adding))
  t.same([counts, undo, unknown], [{ ...NOTHING, unchanged: 3 }, [], 3])
})

t.test('what others have changed is merged by member, or refused', async (t) => {
  const seen = named('Betula', 3001, 100)
  const renamed = [{ id: 3101n, name: 'Carex', tag: 'Grass' }, ...named('Cedrus', 3102, 3), ...seen]
  const removed = named('Cercis', 3105, 2)
  const added = named('Cornus', 3107, 3)
  await store(service, [
    ...seen,
    { id: 3101n, name: 'Carex', tag: 'Sedge' },
    { id: 3102n, name: 'Cornus' },
    { id: 3103n, name: 'of others' },
    { id: 3105n, name: 'of others' },
    { id: 3107n, name: 'of others' },
    { id: 3108n, name: 'Cornus' },
  ])
  const intents = [...renamed.map(renaming('Cornus')), ...removed.map(removing)]
  intents.push(...added.map(adding))
  const { counts, refused, undo, unknown } = await run(t, service, intents)
  t.same(counts, { created: 1, changed: 101, removed: 0, unchanged: 3 })
  t.strictSame(refused, [
    [3103n, CHANGED, { id: 3103n, name: 'of others' }],
    [3104n, DELETED],
    [3105n, CHANGED, { id: 3105n, name: 'of others' }],
    [3107n, TAKEN, { id: 3107n, name: 'of others' }],
  ])
  t.match(await service.stored(3101n), { name: 'Cornus', tag: 'Sedge' })
  t.match(await service.stored(3105n), { name: 'of others' })
  t.equal(unknown, 1, 'somebody else may have added 3108')
  t.strictSame(
    undo.find(({ id }) => id === 3101n),
    {
      id: 3101n,
      before: { name: 'Cornus', tag: 'Sedge' },
      after: { name: 'Carex', tag: 'Sedge' },
    },
  )
  t.same(
    undo.map(({ id }) => id).filter((id) => [3102n, 3106n, 3108n].includes(id)),
    [],
    'what others have done is not taken back',
  )
})

t.test('one conflict does not make the others slow', async (t) => {
  const seen = named('Daphne', 4001, 500)
  await store(service, [...seen, { id: 4250n, name: 'of others' }])
  const { client, proxy } = await connectThrough(t, service)
  const { counts, refused } = await run(t, service, seen.map(renaming('Erica')), { client })
  t.equal(counts.changed, 499)
  t.equal(refused.length, 1)
  const lines = linesOf(proxy.requests)
  t.equal(lines.filter((line) => line === 'PATCH /plants').length, 2)
  t.same(
    lines.filter((line) => !/^(PATCH|GET) \/plants(\?|$)/.test(line)),
    [],
    'none goes alone',
  )
})

t.test('a token that cannot read adds plants', async (t) => {
  const token = await service.issueToken('write', ['write'])
  await store(service, [{ id: 6050n, name: 'of others' }, ...named('Hedera', 6001, 1)])
  const { client, proxy } = await connectThrough(t, service, [], { token })
  const intents = named('Hedera', 6001, 100).map(adding)
  const { counts, refused } = await run(t, service, intents, { client, canRead: false })
  t.same(counts, { ...NOTHING, created: 98, unchanged: 1 })
  t.strictSame(refused, [[6050n, TAKEN]])
  t.same([...new Set(linesOf(proxy.requests))], ['PATCH /plants'])
})

t.test('a run that cannot read ends at a refusal if the caller throws', async (t) => {
  await store(service, [{ id: 7005n, name: 'of others' }])
  const intents = named('Ilex', 7001, 8).map(adding)
  const refused: bigint[] = []
  const end = new Error('end')
  const { counts, undo, error } = await run(t, service, intents, {
    canRead: false,
    onRefused: ({ intent: { id } }) => {
      refused.push(id)
      throw end
    },
  })
  t.equal(error, end)
  t.same(refused, [7005n])
  t.equal(counts.created, 4)
  t.same(undo.map(({ id }) => id).sort(), [7001n, 7002n, 7003n, 7004n])
  t.equal(await service.count('Ilex'), 4)
})

t.test('what the service refuses for one plant does not stop the others', async (t) => {
  const seen = named('Juglans', 8001, 6)
  await store(service, seen)
  const intents = seen.map(tagging('Tree'))
  const [id, before] = [8003n, { name: 'Juglans' }]
  const large = { id, before, after: { name: 'j'.repeat(2 ** 20) } }
  const invalid = { id: 8005n, before, after: { name: 'a\0b' } }
  const all = intents.with(2, large).with(4, invalid)
  const { counts, refused, undo } = await run(t, service, all)
  t.same(counts, { ...NOTHING, changed: 4 })
  t.same(undo.length, 4)
  t.match(refused, [
    [8003n, /^The service refuses the plant: .*1048576 bytes/],
    [8005n, /^The service refuses the plant: body\/name /],
  ])
})

t.test('a list that affects too much is halved, and so is its undo', async (t) => {
  const seen = named('Myrica', 8201, 8)
  await store(service, seen)
  const { client, proxy } = await connectThrough(t, service, [tooLarge, tooLarge])
  const { counts, refused, undo } = await run(t, service, seen.map(removing), { client })
  t.same([counts, refused], [{ ...NOTHING, removed: 8 }, []])
  t.equal(proxy.requests.length, 5, '8, 4, 2, 2 and 4')
  proxy.faults = [tooLarge, lostResponse, tooLarge]
  const back = await run(t, service, undo.toReversed(), { client })
  t.same([back.counts, back.refused], [{ ...NOTHING, created: 8 }, []])
  t.equal(await service.count('Myrica'), 8)
})

t.test('a list that a proxy refuses as too large is halved', async (t) => {
  const seen = named('Myrtus', 8221, 4)
  await store(service, seen)
  const refusing = answered(413, HTML, '<h1>413 Request Entity Too Large</h1>')
  const { client } = await connectThrough(t, service, [refusing, refusing, refusing, passed])
  const { counts, refused } = await run(t, service, seen.map(removing), { client })
  t.same([counts, refused], [{ ...NOTHING, removed: 4 }, []])
  const [plant] = named('Myrtus', 8221, 1)
  const alone = await connectThrough(t, service, [refusing, refusing])
  const result = await run(t, service, [adding(plant as StoredPlant)], { client: alone.client })
  t.strictSame(result.refused, [[8221n, 'A proxy refuses the plant as too large']])
})

t.test('plants that are deleted count as much as those that are stored', async (t) => {
  const seen = named('Nerium '.padEnd(2 ** 16, 'x'), 8301, 20)
  await store(service, seen)
  const { client, proxy } = await connectThrough(t, service)
  const { counts, undo } = await run(t, service, seen.map(removing), { client })
  t.same(counts, { ...NOTHING, removed: 20 })
  t.equal(proxy.requests.length, 5, 'of four plants each')
  const back = await run(t, service, undo.toReversed())
  t.same(back.counts, { ...NOTHING, created: 20 })
})

t.test('a plant that fits into a request, but not into a list, is delivered alone', async (t) => {
  const [small] = named('Olea', 8401, 1)
  const long = 'o'.repeat(2 ** 20 - JSON.stringify({ id: 8402, name: '' }).length)
  const seen = [small as StoredPlant, { id: 8402n, name: long }]
  await store(service, seen)
  const removed = await run(t, service, seen.map(removing))
  const { counts, refused } = await run(t, service, removed.undo.toReversed())
  t.same([counts, refused], [{ ...NOTHING, created: 2 }, []])
  const before = { name: long.slice(0, -1) }
  await store(service, [{ id: 8402n, ...before }])
  const edited = await run(t, service, [{ id: 8402n, before, after: { name: long } }])
  t.same([edited.counts, edited.refused], [{ ...NOTHING, changed: 1 }, []])
})

t.test('what the service refuses for a plant that is delivered alone is refused', async (t) => {
  const name = 'k'.repeat(2 ** 19)
  const seen = { id: 8101n, name }
  await store(service, [seen])
  const { client, proxy } = await connectThrough(t, service)
  const { counts, refused, undo } = await run(t, service, [renaming(`${name}\0`)(seen)], { client })
  t.same([counts, undo], [NOTHING, []])
  t.match(refused, [[8101n, /^The service refuses the plant: body\/name /]])
  t.same(linesOf(proxy.requests).slice(1), ['GET /plants/8101', 'PATCH /plants/8101'])
})

t.test('a plant that changes twice is sent in two lists', async (t) => {
  const twice = [
    { id: 9001n, before: undefined, after: { name: 'Larix' } },
    { id: 9001n, before: { name: 'Larix' }, after: { name: 'Larix', tag: 'Tree' } },
    { id: 9001n, before: { name: 'Larix' }, after: { name: 'Larix', tag: 'Tree' } },
  ]
  const { client, proxy } = await connectThrough(t, service)
  const undone: bigint[] = []
  const { counts } = await run(t, service, twice, {
    client,
    onChanged: async (undo) => {
      undone.push(...undo.map(({ id }) => id))
    },
  })
  t.same(counts, { ...NOTHING, created: 1, changed: 1, unchanged: 1 })
  t.equal(proxy.requests.length, 2)
  t.same(undone, [9001n, 9001n])
})
