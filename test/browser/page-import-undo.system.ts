/** Taking an import back in the page. */

import t, { type Test } from 'tap'
import type { StoredPlant } from '../../client/client.ts'
import { recordFormats } from '../../formats/record-formats.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { type Service, startService } from '../helpers/service.ts'
import {
  barOf,
  CALM,
  counts,
  dialogOf,
  type PlantsPage,
  testInBrowser,
  titled,
} from './plants-page.ts'

const STORED: readonly StoredPlant[] = [
  { id: 1n, name: 'Abies', tag: 'Tree' },
  { id: 2n, name: 'Acer', tag: 'Tree' },
  { id: 3n, name: 'Aconitum' },
]

/** What replaces one stored plant, equals another one, and is new. The page sends it in three lists. */
const IMPORTED: readonly StoredPlant[] = [
  { id: 1n, name: 'Abies alba' },
  { id: 2n, name: 'Acer', tag: 'Tree' },
  ...Array.from({ length: 1200 }, (_, index) => ({
    id: BigInt(100 + index),
    name: `Betula ${index}`,
    tag: 'Tree',
  })),
]

/** Imports a file, and replaces stored plants. */
async function importFile(plants: PlantsPage, file: readonly StoredPlant[]): Promise<void> {
  const text = recordFormats.csv.header + file.map(recordFormats.csv.line).join('')
  const buffer = Buffer.from(text)
  await plants.page
    .locator('input[type=file]')
    .setInputFiles({ name: 'plants.csv', mimeType: 'text/csv', buffer })
  await plants.button('Preview').click()
  await titled(plants, 'Preview of plants.csv')
  await dialogOf(plants).getByLabel('Replace the stored plant').check()
  await dialogOf(plants).getByRole('button', { name: 'Import', exact: true }).click()
}

testInBrowser(t, 'an import is taken back', (open) => {
  let service: Service
  t.beforeEach(async (t) => {
    service = await startService(t)
    await importPlants(service.store, [...STORED], 'stop')
  })

  async function begin(t: Test): Promise<PlantsPage> {
    const plants = await open(t, service.url, { token: service.token, ...CALM })
    await plants.rows('Abies').waitFor()
    return plants
  }

  const list = async () =>
    (await service.call({ method: 'GET', path: '/plants?limit=1000' })).json as StoredPlant[]

  t.test('from its dialog, apart from what others have changed since', async (t) => {
    const plants = await begin(t)
    await importFile(plants, IMPORTED)
    await titled(plants, 'Import finished')
    t.same(await counts(plants), ['Created 1,200', 'Replaced 1', 'Unchanged 1', 'Not imported 0'])
    t.equal(await service.count(), 1203)
    await service.call({ method: 'PUT', path: '/plants/100', body: { name: 'theirs' } })
    await service.call({ method: 'DELETE', path: '/plants/101' })
    await service.call({ method: 'PUT', path: '/plants/1', body: { name: 'Abies alba', tag: 'x' } })
    await plants.button('Undo import').click()
    await titled(plants, 'Undo finished')
    t.same(await counts(plants), ['Deleted 1,198', 'Unchanged 1', 'Not undone 2'])
    const refused = await dialogOf(plants).getByRole('listitem').allInnerTexts()
    t.same(
      refused.map((text) => text.split(/\n+/)),
      [
        [
          'Somebody has changed this plant meanwhile',
          'To delete: 100 Betula 0 Tree',
          'Stored: 100 theirs no tag',
        ],
        [
          'Somebody has changed this plant meanwhile',
          'Wanted: 1 Abies Tree',
          'Stored: 1 Abies alba x',
        ],
      ],
    )
    await plants.button('Close').click()
    await plants.rows('theirs').waitFor()
    t.equal(await barOf(plants).count(), 0)
    t.match(await list(), [
      { id: 1n, name: 'Abies alba', tag: 'x' },
      { id: 2n, name: 'Acer', tag: 'Tree' },
      { id: 3n, name: 'Aconitum' },
      { id: 100n, name: 'theirs' },
    ])
    t.same(plants.complaints, [])
  })

  t.test('as far as it got when the tab crashed', async (t) => {
    const crashing = await begin(t)
    const held = Promise.withResolvers<void>()
    let lists = 0
    await crashing.page.route('**/plants', (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      lists += 1
      // The third list does not arrive.
      return lists === 3 ? held.resolve() : route.continue()
    })
    await importFile(crashing, IMPORTED)
    await held.promise
    t.equal(await service.count(), 3 + 999)
    const plants = await crashing.crash()
    await plants.rows('Abies alba').waitFor()
    t.equal(await barOf(plants).locator('p').innerText(), 'Imported plants.csv: 1,000 plants')
    await plants.button('Undo').click()
    await titled(plants, 'Undo finished')
    t.strictSame(await list(), STORED)
    t.same(plants.complaints, [])
  })
})
