/** Each thread finds out by itself that the database is frozen. */
import t from 'tap'
import { runHere } from '../helpers/processes/command-here.ts'
import { ask, formatRequest, openLines, startThreads } from '../helpers/service/threads.ts'

t.test('all threads follow a freeze', async (t) => {
  const service = await startThreads(t)
  const { token, database } = service
  const lines = await openLines(t, service)
  const create = formatRequest(token, 'POST /plants', '{"id":1,"name":"Abies alba Mill."}')
  /** Resolves once a create gets the status from every thread. */
  const waitFor = async (status: number) => {
    await Promise.all(
      lines.map(async ({ socket }) => {
        while ((await ask(socket, create)).status !== status);
      }),
    )
  }
  await waitFor(200)
  await runHere(['freeze', '--database', database])
  await waitFor(503)
  await runHere(['unfreeze', '--database', database])
  await waitFor(200)
})
