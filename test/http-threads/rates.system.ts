/** Limits on connections and rates apply to the process, not to each thread. */
import t from 'tap'
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
const REQUESTS = 100

/** A tenth of the failures that an address can use at once. */
const FAILURES = 2

const service = await startThreads(t, {
  maxConnections: CONNECTIONS,
  // No test takes so long that another request is allowed.
  rateLimit: { requests: REQUESTS, window: 86_400_000 },
  authFailureLimit: { requests: FAILURES, window: 86_400_000 },
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

/** Sends the first request that counts. If several requests were first at once, SharedTable could lose one. */
async function addToTable(lines: readonly Line[], request: string, expected: number) {
  const { status } = await ask((lines as [Line])[0].socket, request)
  if (status !== expected) throw new Error(`${status}, not ${expected}`)
}

/** A request for an empty page that appears to come from an address. */
function read(token: string, address: string): string {
  const request = formatRequest(token, 'GET /plants?limit=1')
  return request.replace('Host: x', `Host: x\r\nX-Forwarded-For: ${address}`)
}

t.test('--rate-limit limits the requests of a token to all threads', async (t) => {
  const token = await service.issueToken('limited', ['read'])
  const lines = await openLines(t, service, 2)
  await addToTable(lines, read(token, '192.0.2.1'), 200)
  const counts = await countStatuses(lines, 20, read(token, '192.0.2.1'))
  t.same(counts, { 200: REQUESTS - 1, 429: lines.length * 20 - REQUESTS + 1 })
  for (const line of lines) line.socket.destroy()
})

t.test('--auth-failure-limit limits the failures of an address in all threads', async (t) => {
  const [known, unseen] = await Promise.all([
    service.issueToken('known', ['read']),
    service.issueToken('unseen', ['read']),
  ])
  const lines = await openLines(t, service, 2)
  const [first] = lines as [Line]
  t.equal((await ask(first.socket, read(known, '192.0.2.2'))).status, 200)
  await addToTable(lines, read('a-wrong-token', '192.0.2.3'), 401)
  const counts = await countStatuses(lines, 5, read('a-wrong-token', '192.0.2.3'))
  t.same(counts, { 401: FAILURES * 10 - 1, 429: lines.length * 5 - FAILURES * 10 + 1 })
  t.same(await countStatuses(lines, 1, read(unseen, '192.0.2.3')), { 429: lines.length })
  t.same(
    await countStatuses(lines, 1, read(known, '192.0.2.3')),
    { 200: lines.length },
    'a token that one thread knows is exempt in all threads',
  )
  await service.revokeToken('known')
  t.equal((await ask(first.socket, read(known, '192.0.2.3'))).status, 429)
  for (const line of lines) line.socket.destroy()
})

t.test('--max-connections limits the connections of all threads', async (t) => {
  const lines: Line[] = []
  while (lines.length < CONNECTIONS) {
    // A thread may not have noticed yet that the tests above have closed theirs.
    await openLine(t, service).then(
      (line) => lines.push(line),
      () => {},
    )
  }
  t.equal(new Set(lines.map(({ thread }) => thread)).size, THREADS)
  // Enough that each thread refuses some.
  for (let refused = 0; refused < CONNECTIONS; refused++) {
    await t.rejects(openLine(t, service))
  }
})
