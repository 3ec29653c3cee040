/** Each thread finds out by itself that the database is frozen, or a mirror. */
import t from 'tap'
import { openStore } from '../../src/stores/engines.ts'
import { runHere } from '../helpers/command-here.ts'
import { BEGUN, CONSISTENT, makeMirror } from '../helpers/mirrors.ts'
import { ask, formatRequest, openLines, startThreads } from '../helpers/threads.ts'

t.test('all threads follow a freeze within a second', async (t) => {
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

t.test('threads of a mirror are ready once it is consistent', async (t) => {
  const service = await startThreads(t, { adminPort: 0 })
  const store = await openStore({ database: service.database, lockTimeout: 30_000 })
  t.teardown(() => store.close())
  const ready = { method: 'GET', path: '/health/ready', token: null }
  const lines = await openLines(t, service)
  const read = formatRequest(service.token, 'GET /plants')
  const statuses = async () => {
    const answers = await Promise.all(lines.map(({ socket }) => ask(socket, read)))
    return new Set(answers.map(({ status }) => status))
  }
  const readyForOperators = () => fetch(`${service.adminUrl}/health/ready`)
  await makeMirror(store, BEGUN)
  let answer = await service.call(ready)
  // A check that has succeeded counts for a moment.
  while (answer.status === 200) answer = await service.call(ready)
  const message =
    'the store is temporarily unavailable: it is still copying the plants of https://plants.example'
  t.match(answer, { status: 503, json: { error: 50302, message } })
  t.match(await (await readyForOperators()).json(), { error: 50302, message })
  while ((await statuses()).has(200));
  await store.restrict({ expected: BEGUN, next: CONSISTENT })
  while ((await service.call(ready)).status !== 200);
  t.strictSame([...(await statuses())], [200], 'every thread can be read')
  while ((await readyForOperators()).status !== 200);
})
