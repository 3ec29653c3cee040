/** Each thread finds out by itself that the database is frozen, or a mirror. */
import t from 'tap'
import { runHere } from '../helpers/command-here.ts'
import { ask, formatRequest, openLines, startThreads } from '../helpers/threads.ts'

t.test('all threads follow a freeze within a second', async (t) => {
  const service = await startThreads(t, { measured: true })
  const { token, database } = service
  const lines = await openLines(t, service)
  const create = formatRequest(token, 'POST /plants', '{"id":1,"name":"Abies alba Mill."}')
  /** How many milliseconds pass until a create gets the status from every thread. */
  const waitFor = async (status: number) => {
    const begun = performance.now()
    await Promise.all(
      lines.map(async ({ socket }) => {
        while ((await ask(socket, create)).status !== status);
      }),
    )
    return performance.now() - begun
  }
  await waitFor(200)
  await runHere(['freeze', '--database', database])
  t.ok((await waitFor(503)) < 1000)
  await runHere(['unfreeze', '--database', database])
  t.ok((await waitFor(200)) < 1000)
})
