/** A mirror equals its source, however often the source fails. */
import t from 'tap'
import type { Fault } from '../../src/faults/fault.ts'
import { startFaulty } from '../faults-on-demand/faulty-service.ts'
import { change, fill, plantsOf, TestMirror } from './mirrored.ts'

const operation = 'listChanges'

/** Failures at random, which depend only on the seed. */
function randomFaults(seed: number): Fault[] {
  const random = { probability: 0.08, seed }
  return [
    { ...random, operation: 'listPlants', error: 'store-busy' },
    { ...random, seed: seed + 1, operation: 'listPlants', cut: 'in-body' },
    { ...random, seed: seed + 2, operation: 'listPlants', cut: 'before-response' },
    { ...random, seed: seed + 3, operation, cut: 'after-events', events: 2 },
    { ...random, seed: seed + 4, operation, cut: 'in-body' },
    { ...random, seed: seed + 5, operation, error: 'service-busy' },
    { ...random, seed: seed + 6, operation, error: 'too-many-requests', delayMs: 20 },
    { ...random, seed: seed + 7, operation, cut: 'before-work' },
  ]
}

for (const seed of [2, 3]) {
  t.test(`a mirror equals a source with random failures, seed ${seed}`, async (t) => {
    const { service, injection } = await startFaulty(t, randomFaults(seed))
    const copy = await TestMirror.open(t, service)
    await fill(service.store, 2500)
    for (const round of [0, 1, 2]) {
      const running = copy.run()
      await change(service.store, round)
      await running
      await copy.run()
      t.strictSame(await plantsOf(copy.store), await plantsOf(service.store))
    }
    const failed = injection.requests.filter(({ fault }) => fault !== undefined)
    t.ok(failed.length >= 3, `${failed.length} of ${injection.requests.length} requests failed`)
  })
}
