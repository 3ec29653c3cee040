/** Each thread limits its own connections, and the rates of its own requests. */
import t from 'tap'
import { connectionsPerThread } from '../../src/http/sockets/connection-limit.ts'
import {
  ask,
  formatRequest,
  type Line,
  openLine,
  openLines,
  startThreads,
  THREADS,
} from '../helpers/service/threads.ts'

const CONNECTIONS = 40
const REQUESTS = 5

const service = await startThreads(t, {
  maxConnections: CONNECTIONS,
  // No test takes so long that another request is allowed.
  rateLimit: { requests: REQUESTS, window: 86_400_000 },
})

t.test('each thread limits the requests of a token', async (t) => {
  const token = await service.issueToken('limited', ['read'])
  const request = formatRequest(token, 'GET /plants?limit=1')
  const lines = await openLines(t, service)
  const readAll = async ({ socket }: Line) => {
    const statuses: number[] = []
    while (statuses.length <= REQUESTS) statuses.push((await ask(socket, request)).status)
    return statuses
  }
  for (const statuses of await Promise.all(lines.map(readAll))) {
    t.same(statuses, [...Array(REQUESTS).fill(200), 429])
  }
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
