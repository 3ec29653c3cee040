/** Commits in a thread of its own, so that requests do not wait for the disk or for locks. */

import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { serveCalls } from '../../../system/remote-calls.ts'
import { toReply } from '../../../system/reply.ts'
import { messageOf } from '../../../system/user-errors.ts'
import { isFull, sumSizes } from '../../shared/group-commit.ts'
import { CommitSignal } from '../feed/commit-signal.ts'
import { openDatabase } from '../file/database.ts'
import { OpenFile } from '../file/file-identity.ts'
import { Checkpointer, prepareCheckpoint } from './checkpointer.ts'
import type { SqliteMetrics } from './sqlite-metrics.ts'
import type { CommitResult, WriteCall } from './write-call.ts'
import { Writer } from './writer.ts'
import {
  type WriterCommand,
  type WriterMethods,
  type WriterProblem,
  type WriterReply,
  type WriterRequest,
  writerThread,
} from './writer-client.ts'

/** SQLite waits for a lock at most this long at a time, because the process cannot end while it waits. */
const BUSY_TIMEOUT_MS = 100

/** How often to check the file. Otherwise a store without changes would not notice that it is not in place. */
const FILE_CHECK_INTERVAL_MS = 1000

/** A request, and where to send the reply. */
interface Received extends WriterRequest {
  readonly client: MessagePort
}

const { commits: memory, metrics: metricsPort, ...options } = writerThread.data
const commits = new CommitSignal(memory)
const db = openDatabase(options)
db.pragma(`busy_timeout = ${Math.min(BUSY_TIMEOUT_MS, options.lockTimeout)}`)
const metrics = metricsPort && (await serveMetrics(metricsPort))
const file = new OpenFile(options.file, options.identity, options.damage)
const writer = new Writer(db, file, metrics)
const emptyWal = prepareCheckpoint(db, 'TRUNCATE', file.mapError)
const checkpointer = new Checkpointer(db, options, { metrics, onProblem: report })
const clients = new Set<MessagePort>()
/** Whether the WAL was emptied after the last commit, because the file is missing or was replaced. */
let isWalEmptied = false
let isDamageReported = false
let commitsSeen = commits.value
const watch = setInterval(() => {
  const isIdle = commits.value === commitsSeen
  commitsSeen = commits.value
  if (checkInPlace() && isIdle) checkpointer.whenIdle()
  reportDamage()
}, FILE_CHECK_INTERVAL_MS)
watch.unref()

parentPort?.on('message', async (command: WriterCommand) => {
  if (command !== 'close') return accept(command.client)
  clearInterval(watch)
  await checkpointer.close()
  checkInPlace()
  // If the file is not in place, SQLite neither writes the WAL back nor deletes it here (SQLITE_FCNTL_HAS_MOVED).
  writer.close()
  for (const client of clients) client.close()
  metricsPort?.close()
  parentPort?.close()
})

async function serveMetrics(port: MessagePort): Promise<SqliteMetrics> {
  const { SqliteMetrics } = await import('./sqlite-metrics.ts')
  const metrics = new SqliteMetrics()
  serveCalls<keyof WriterMethods>(port, { readMetrics: () => metrics.read() })
  return metrics
}

function accept(client: MessagePort): void {
  clients.add(client)
  client.on('close', () => clients.delete(client))
  client.on('message', (request: WriterRequest) => {
    const isCommitted = serve(receiveOthers({ client, ...request }))
    // A commit has checked the file.
    if (isCommitted || checkInPlace()) checkpointer.afterCommit()
  })
}

/**
 * Reports that the file is not in place, and empties the WAL into it, wherever it is: SQLite would apply the WAL to the
 * file that has its name now. A process that opens that file uses the same WAL, so every later checkpoint of this one
 * would move the changes of the other into the wrong file.
 *
 * @returns whether the file is in place
 */
function checkInPlace(): boolean {
  try {
    file.assertInPlace()
    return true
  } catch (error) {
    if (!isWalEmptied) isWalEmptied = emptyWal().busy === 0
    report(messageOf(error))
    return false
  }
}

/** Another thread may have found the damage. */
function reportDamage(): void {
  if (isDamageReported || !file.isDamaged) return
  isDamageReported = true
  report(
    `${file.path} is damaged, so the service is not ready and rejects changes. Stop it, run "plant-store check", and ` +
      'restore the newest backup with "plant-store restore", or export what can still be read',
  )
}

function report(problem: string): void {
  parentPort?.postMessage({ problem } satisfies WriterProblem)
}

/**
 * Adds a request of each other client that has sent one, to commit them together, up to the limit of a transaction. The
 * transaction has the most room for the first of them, so the next one begins with another client.
 */
function receiveOthers(first: Received): Received[] {
  const received: Received[] = []
  let { size } = first
  for (const client of clients) {
    if (client === first.client) {
      received.push(first)
      continue
    }
    if (isFull(size)) continue
    const request = receiveMessageOnPort(client)
    if (request === undefined) continue
    const other: Received = { client, ...request.message }
    size = sumSizes([size, other.size])
    received.push(other)
  }
  const { client } = received[0] ?? first
  clients.delete(client)
  clients.add(client)
  return received
}

/** Commits requests together, and replies to each. Returns whether all were committed. */
function serve(requests: readonly Received[]): boolean {
  let results: CommitResult[]
  try {
    results = commit(
      requests.flatMap(({ changes }) => changes),
      requests.map(({ deadline }) => deadline).reduce((a, b) => (a < b ? a : b)),
    )
  } catch (error) {
    // Neither a bug in one request nor its deadline must fail the others.
    if (requests.length > 1) return requests.map((each) => serve([each])).every(Boolean)
    for (const { client } of requests) send(client, toReply(error))
    return false
  }
  let end = 0
  for (const { client, changes } of requests) {
    const start = end
    end += changes.length
    send(client, { result: results.slice(start, end) })
  }
  return true
}

function send(client: MessagePort, reply: WriterReply): void {
  client.postMessage(reply)
}

function commit(changes: readonly WriteCall[], deadline: bigint): CommitResult[] {
  for (;;) {
    try {
      const results = writer.commit(changes)
      isWalEmptied = false
      return results
    } catch (error) {
      const isLocked = error instanceof StoreUnavailable && error.reason === 'busy'
      if (!isLocked || process.hrtime.bigint() >= deadline) throw error
    } finally {
      // After a failure too, because a change that throws may have been applied.
      commits.add()
    }
  }
}
