/** Imports that change only what the file has. */
import t from 'tap'
import { createClient } from '../../../client/client.ts'
import { startService } from '../../helpers/service/service.ts'
import { named, run, store } from '../changes/run.ts'
import { describeService, FIELDS } from '../own-fields/nursery.ts'
import { compareText, importText, storedPlants } from './imports-of-files.ts'

const CHANGED = 'Somebody has changed this plant meanwhile'

t.test(
  'an update changes the cells of the file and nothing else, and undo restores them',
  async (t) => {
    const service = await startService(t, { fields: FIELDS })
    describeService(t)
    const plants = [
      { id: 1n, name: 'Abies', tag: 'Tree', height: 120, light: 'sun' },
      { id: 2n, name: 'Acer', tag: 'Tree', height: 90 },
      { id: 3n, name: 'Alnus', tag: '', light: 'shade' },
      { id: 4n, name: 'Betula', height: 10 },
    ]
    const client = createClient(service)
    await client.createPlants(plants)
    const text = 'id,height\n1,130\n2,\n3,\n4,10\n5,20\n6,x\n'
    const { undo, ...rest } = await importText(service, text)
    t.match(rest, {
      fates: { new: 0, different: 2, same: 2, refused: 2 },
      removed: 1,
      counts: { created: 0, changed: 2, unchanged: 2 },
      refused: [
        [6, 'The name is missing'],
        [7, /^The height must be a whole number/],
      ],
    })
    t.strictSame(await storedPlants(service), [
      { ...plants[0], height: 130 },
      { id: 2n, name: 'Acer', tag: 'Tree' },
      plants[2],
      plants[3],
    ])
    await run(t, service, undo.toReversed())
    t.strictSame(await storedPlants(service), plants)
  },
)

t.test('a member of JSON that is absent stays, and null removes one', async (t) => {
  const service = await startService(t)
  await store(service, [
    { id: 1n, name: 'Abies', tag: 'Tree' },
    { id: 2n, name: 'Acer', tag: 'Tree' },
  ])
  const text =
    '[{"id":1,"name":"Picea"},{"id":2,"tag":null},{"id":2,"tag":null},{"id":1,"name":"x"}]'
  const { counts, removed, refused } = await importText(service, text)
  t.match({ counts, removed }, { counts: { changed: 2, unchanged: 1 }, removed: 1 })
  t.same(refused, [[4, 'An earlier row has the same id']])
  t.strictSame(await storedPlants(service), [
    { id: 1n, name: 'Picea', tag: 'Tree' },
    { id: 2n, name: 'Acer' },
  ])
  const { groups } = (await compareText(service, '{"id":1,"name":null}\n{"id":2}\n')).comparison
    .update
  t.match(groups, {
    refused: { examples: [{ reason: 'The name is missing' }] },
    same: { count: 1 },
  })
})

t.test('what somebody changes after the preview stays, or is a conflict', async (t) => {
  const service = await startService(t)
  const client = createClient(service)
  await store(service, named('Abies', 1, 3))
  const between = async () => {
    await client.updatePlant(1n, { name: 'of others' })
    await client.updatePlant(2n, { tag: 'of others' })
    await client.deletePlant(3n)
  }
  const text = 'id,tag\n1,Tree\n2,Tree\n3,Tree\n'
  const { counts, refused, undo } = await importText(service, text, { between })
  t.match(counts, { created: 0, changed: 1 })
  t.strictSame(refused, [
    [3, CHANGED, { id: 2n, name: 'Abies', tag: 'of others' }],
    [4, 'Somebody has deleted this plant meanwhile'],
  ])
  t.match(await service.stored(1n), { name: 'of others', tag: 'Tree' })
  await run(t, service, undo)
  t.match(await service.stored(1n), { name: 'of others', tag: null })
})

t.test('all that would change or be refused is listed in the order of the file', async (t) => {
  const service = await startService(t)
  await store(service, named('Abies', 1, 900))
  const rows = Array.from({ length: 900 }, (_, index) => `${index % 3 ? index : 'x'},Tree\n`)
  const { comparison } = await compareText(service, `id,tag\n${rows.join('')}`)
  const { different, refused } = comparison.update.groups
  const linesOf = (group: typeof different) => group.examples.map(({ record }) => record.number)
  const lines = rows.map((_, index) => index + 2)
  t.same(
    linesOf(different),
    lines.filter((_, index) => index % 3),
  )
  t.same(
    linesOf(refused),
    lines.filter((_, index) => index % 3 === 0),
  )
})
