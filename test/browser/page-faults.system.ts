/** The page with a service that fails now and then. */
import t, { type Test } from 'tap'
import type { Fault } from '../../src/faults/fault.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { startFaulty } from '../faults-on-demand/faulty-service.ts'
import { testInBrowser } from './plants-page.ts'

testInBrowser(t, 'the page survives failures', (open) => {
  /** Opens the page of a service with a plant, then makes the service fail. */
  async function begin(t: Test, fault: Fault) {
    const { service, injection } = await startFaulty(t)
    await importPlants(service.store, [{ id: 1n, name: 'Acer' }], 'stop')
    const plants = await open(t, service.url, { token: service.token })
    await plants.rows('Acer').waitFor()
    injection.clearRequests()
    injection.setFaults([{ name: 'the fault', first: 1, ...fault }])
    const failed = () => injection.requests.filter((request) => request.fault === 'the fault')
    return { service, injection, plants, failed }
  }

  t.test('a plant is added once', async (t) => {
    const fault = { operation: 'createPlant', cut: 'before-response' } as const
    const { service, plants, failed } = await begin(t, fault)
    await plants.button('Add plant').click()
    await plants.type({ id: '2', name: 'Abies' })
    await plants.button('Save').click()
    await plants.rows('Abies').waitFor()
    await plants.page.locator('form.editor').waitFor({ state: 'detached' })
    t.equal(failed().length, 1)
    t.equal(await service.count(), 2)
  })

  t.test('a plant is changed', async (t) => {
    const fault = { operation: 'updatePlant', error: 'service-busy', retryAfter: 1 } as const
    const { service, plants, failed } = await begin(t, fault)
    await plants.edit('Acer', { name: 'Acer rubrum' })
    await plants.button('Save').click()
    await plants.rows('Acer rubrum').waitFor()
    await plants.page.locator('form.editor').waitFor({ state: 'detached' })
    t.equal(failed().length, 1)
    t.match(await service.stored(1n), { name: 'Acer rubrum' })
  })

  for (const fault of [
    { cut: 'after-events', events: 1, first: 3 },
    { error: 'cursor-expired' },
  ] as const) {
    t.test(`changes by others appear: ${JSON.stringify(fault)}`, async (t) => {
      const { service, plants, failed } = await begin(t, { operation: 'listChanges', ...fault })
      for (const id of [2n, 3n, 4n]) {
        await service.store.create({ id, name: `Abies ${id}`, tag: undefined })
        await plants.rows(`Abies ${id}`).waitFor()
      }
      t.ok(failed().length > 0)
    })
  }
})
