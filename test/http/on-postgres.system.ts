/**
 * Runs the test files whose results depend most on what a store returns and throws again, on a PostgreSQL server. The
 * store's own suites compare the engines on arbitrary plants.
 */
import t from 'tap'
import { runFiles } from '../helpers/processes/run-files.ts'
import { postgres } from '../helpers/service/engine.ts'
import { startOn, startService } from '../helpers/service/service.ts'

startOn(t, await postgres())

t.test('the services of these tests use the server', async (t) => {
  t.match((await startService(t)).database, /^postgres:/)
})

await runFiles(
  t,
  [
    'changes/event-streams',
    'operations/hidden-fields',
    'changes/long-polls',
    'model/model',
    'operations/own-fields',
    'statuses',
  ].map((name) => `http/${name}.test.ts`),
)
