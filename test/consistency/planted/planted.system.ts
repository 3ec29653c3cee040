/** The judges find the faults that are found soonest. `npm run test:consistency -- --planted` looks for all. */
import t from 'tap'
import { newSeed } from '../run.ts'
import { FAULTS } from './faults.ts'
import { faultyService } from './faulty-service.ts'
import { discover, formatDiscovery } from './planted.ts'

/** How many of the faults to look for. */
const CHEAPEST = 4

/** The seconds of each run. If every fault needs every run, that is less than two minutes. */
const RUNS = [1, 3, 9, 15]

t.test('the judges find nothing without a fault', async (t) => {
  const sound = faultyService({ name: 'none', plant: () => ({}) })
  const { violation } = await discover(sound, { owner: t, seed: newSeed(), runs: [1] })
  t.equal(violation, 'no violation')
})

for (const fault of FAULTS.slice(0, CHEAPEST)) {
  t.test(`the judges find ${fault.name}`, async (t) => {
    const discovery = await discover(fault, { owner: t, seed: newSeed(), runs: RUNS })
    t.comment(formatDiscovery(discovery))
    t.not(discovery.seed, undefined)
  })
}
