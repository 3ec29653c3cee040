/** Runs the tests of this folder that depend on the store again, on PostgreSQL. */
import t from 'tap'
import { postgres } from '../helpers/engine.ts'
import { startOn, startService } from '../helpers/service.ts'

startOn(await postgres(t))

t.test('these services use PostgreSQL', async (t) => {
  t.match((await startService(t)).database, /^postgres:/)
})

await import('./authentication.test.ts')
await import('./create-plant.test.ts')
await import('./delete-plant.test.ts')
await import('./get-plant.test.ts')
await import('./health.test.ts')
await import('./list-plants.test.ts')
await import('./model.test.ts')
await import('./properties.test.ts')
await import('./requests.test.ts')
await import('./statuses.test.ts')
// Last, because their `beforeEach` hooks also run before the tests of files imported after them.
await import('./change-plant.test.ts')
await import('./preconditions.test.ts')
