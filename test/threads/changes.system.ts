/** Followers in every thread see the changes that any thread makes. */
import t from 'tap'
import { EventStream } from '../helpers/network/event-stream.ts'
import { latestCursor } from '../helpers/plants/changes.ts'
import { ask, formatRequest, openLines, THREADS, threadOf } from '../helpers/service/threads.ts'
import { sharedService } from './shared-service.ts'

const service = await sharedService()
const { token } = service

t.test('streams and long polls of every thread get each change', async (t) => {
  const cursor = await latestCursor(service)
  const lines = await openLines(t, service)
  const polls = lines.map(({ socket }) =>
    ask(socket, formatRequest(token, `GET /changes?after=${cursor}&wait=60`)),
  )
  const streams = new Map<string, EventStream>()
  while (streams.size < THREADS) {
    const stream = await EventStream.open(t, service)
    const { headers } = stream.response
    streams.set(
      threadOf({ status: 200, headers: headers as Record<string, string>, body: '' }),
      stream,
    )
  }
  for (const [index, { socket }] of (await openLines(t, service)).entries()) {
    const id = 60_000 + index
    await ask(socket, formatRequest(token, 'POST /plants', `{"id":${id},"name":"Abies"}`))
    for (const stream of streams.values()) t.equal((await stream.next()).change.id, BigInt(id))
  }
  for (const { body } of await Promise.all(polls)) t.match(JSON.parse(body), [{ type: 'created' }])
  for (const stream of streams.values()) stream.close()
})
