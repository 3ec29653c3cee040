/** As many followers as the service must support, with its default limits. */
import t from 'tap'
import { EventStream } from '../../helpers/network/event-stream.ts'
import { latestCursor, readPage } from '../../helpers/plants/changes.ts'
import { startWaitingService } from '../../helpers/service/waiting-service.ts'

const STREAMS = 500
const LONG_POLLS = 500

/** Opened at once. The system's queue of new connections must never overflow. */
const BATCH_SIZE = 100

t.test('1,000 followers each get a change', async (t) => {
  const { service, countReads } = await startWaitingService(t)
  const cursor = await latestCursor(service)
  const streams: EventStream[] = []
  while (streams.length < STREAMS) {
    const batch = Array.from({ length: BATCH_SIZE }, () => EventStream.open(t, service))
    streams.push(...(await Promise.all(batch)))
  }
  const polls: ReturnType<typeof readPage>[] = []
  const before = countReads()
  /** Each long poll reads once before it waits. Streams share their reads. */
  const waiting = async () => {
    while (countReads() < before + polls.length) await new Promise(setImmediate)
  }
  while (polls.length < LONG_POLLS) {
    const query = `?after=${cursor}&wait=60`
    polls.push(...Array.from({ length: BATCH_SIZE }, () => readPage(service, query)))
    await waiting()
  }
  t.match(await service.call({ body: { id: 1, name: 'Abies' } }), { status: 200 })
  const events = await Promise.all(streams.map((stream) => stream.next()))
  const pages = await Promise.all(polls)
  const ids = [
    ...events.map(({ change }) => change.id),
    ...pages.map(({ changes }) => changes[0]?.id),
  ]
  t.strictSame(ids, Array(STREAMS + LONG_POLLS).fill(1n))
  for (const stream of streams) stream.close()
})
