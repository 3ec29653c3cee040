/** Runs the test files about plants and tokens again, with both on a PostgreSQL server. */
import t from 'tap'
import type { OperationId } from '../../../contract/operation-types.ts'
import { postgres } from '../../helpers/engine.ts'
import { runFiles } from '../../helpers/run-files.ts'
import { startOn, startService } from '../../helpers/service.ts'

/** The files that test the operations. */
const OPERATIONS: Readonly<Record<OperationId, string>> = {
  changePlants: 'operations/change-plants',
  createPlant: 'operations/create-plant',
  createPlants: 'operations/create-plants',
  deletePlant: 'operations/delete-plant',
  getPlant: 'operations/get-plant',
  getToken: 'operations/get-token',
  listChanges: 'operations/list-changes',
  listPlants: 'operations/list-plants',
  listTags: 'operations/list-tags',
  replacePlant: 'operations/change-plant',
  updatePlant: 'operations/change-plant',
}

/**
 * The other files whose results depend on what a store returns or throws. The store's own tests compare the engines
 * on arbitrary plants, so `properties` and `requests` need only one.
 */
const OTHERS = [
  'health',
  'request/authentication',
  'operations/count-plants',
  'operations/event-stream-connections',
  'operations/event-streams',
  'operations/hidden-fields',
  'operations/long-polls',
  'operations/model',
  'operations/own-fields',
  'operations/plants-by-id',
  'operations/preconditions',
  'operations/search-plants',
  'operations/statuses',
]

startOn(t, await postgres())

t.test('the services of these tests use the server', async (t) => {
  t.match((await startService(t)).database, /^postgres:/)
})

const files = new Set([...Object.values(OPERATIONS), ...OTHERS])
await runFiles(
  t,
  [...files].map((name) => `http/${name}.test.ts`),
)
