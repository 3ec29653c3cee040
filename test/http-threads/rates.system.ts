/** Each thread limits its own connections, and the rates of its own requests. */
import t from 'tap'
import { connectionsPerThread } from '../../src/http/server/connection-limit.ts'
import {
  ask,
  formatRequest,
  type Line,
  openLine,
  openLines,
  startThreads,
  THREADS,
} from '../helpers/threads.ts'

const CONNECTIONS = 40
const REQUESTS = 5

/** How many failures an address can use at once. */
const FAILURES = 20

const service = await startThreads(t, {
  maxConnections: CONNECTIONS,
  // No test takes so long that another request is allowed.
  rateLimit: { requests: REQUESTS, window: 86_400_000 },
  authFailureLimit: { requests: FAILURES / 10, window: 86_400_000 },
  trustProxy: '127.0.0.1',
})

/** Sends as many requests to each line, and counts their responses by status. */
async function countStatuses(lines: readonly Line[], each: number, request: string) {
  const counts: Record<number, number> = {}
  const send = async ({ socket }: Line) => {
    for (let sent = 0; sent < each; sent++) {
      const { status } = await ask(socket, request)
      counts[status] = (counts[status] ?? 0) + 1
    }
  }
  await Promise.all(lines.map(send))
  return counts
}

/** A request for an empty page that appears to come from an address. */
function read(token: string, address: string): string {
  const request = formatRequest(token, 'GET /plants?limit=1')
  return request.replace('Host: x', `Host: x\r\nX-Forwarded-For: ${address}`)
}

t.test('each thread limits the requests of a token', async (t) => {
  const token = await service.issueToken('limited', ['read'])
  const lines = await openLines(t, service)
  const counts = await countStatuses(lines, REQUESTS + 2, read(token, '192.0.2.1'))
  t.same(counts, { 200: THREADS * REQUESTS, 429: THREADS * 2 })
  for (const line of lines) line.socket.destroy()
})

t.test('each thread limits the failures of an address', async (t) => {
  const [known, unseen] = await Promise.all([
    service.issueToken('known', ['read']),
    service.issueToken('unseen', ['read']),
  ])
  const lines = await openLines(t, service)
  t.same(await countStatuses(lines, 1, read(known, '192.0.2.2')), { 200: THREADS })
  const counts = await countStatuses(lines, FAILURES + 2, read('a-wrong-token', '192.0.2.3'))
  t.same(counts, { 401: THREADS * FAILURES, 429: THREADS * 2 })
  t.same(await countStatuses(lines, 1, read(unseen, '192.0.2.3')), { 429: THREADS })
  t.same(
    await countStatuses(lines, 1, read(known, '192.0.2.3')),
    { 200: THREADS },
    'a token that the threads know is exempt',
  )
  await service.revokeToken('known')
  t.same(await countStatuses(lines, 1, read(known, '192.0.2.3')), { 429: THREADS })
  for (const line of lines) line.socket.destroy()
})

t.test('--max-connections limits the connections of each thread', async (t) => {
  const open = async () => openLine(t, service).catch(() => undefined)
  const lines: Line[] = []
  // A thread may not have noticed yet that the tests above have closed theirs.
  while (lines.length < CONNECTIONS) {
    const line = await open()
    if (line !== undefined) lines.push(line)
  }
  const inEach = connectionsPerThread(CONNECTIONS, THREADS, Number.POSITIVE_INFINITY)
  let refused = 0
  while (refused < CONNECTIONS) {
    const line = await open()
    if (line === undefined) refused++
    else lines.push(line)
  }
  const byThread = Object.groupBy(lines, ({ thread }) => thread)
  t.equal(Object.keys(byThread).length, THREADS)
  for (const open of Object.values(byThread)) t.ok(Number(open?.length) <= inEach)
})
