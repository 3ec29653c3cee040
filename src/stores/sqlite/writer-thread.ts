/** Commits in a thread of its own, so that requests do not wait for the disk or for locks. */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { SharedCounter } from '../../shared-memory/shared-counter.ts'
import { toReply } from '../../threads/reply.ts'
import { Checkpointer } from './checkpointer.ts'
import { openDatabase } from './database.ts'
import type { WriterReply, WriterRequest } from './threaded-writer.ts'
import { type Change, type ChangeResult, Writer } from './writer.ts'
import { type WriterCommand, writerThread } from './writer-owner.ts'

/** SQLite waits for a lock at most this long at a time, because the process cannot end while it waits. */
const BUSY_TIMEOUT_MS = 100

/** A request, and where to send the reply. */
interface Received extends WriterRequest {
  readonly client: MessagePort
}

const { commits: memory, ...options } = writerThread.data
const commits = new SharedCounter(memory)
const db = openDatabase(options)
db.pragma(`busy_timeout = ${Math.min(BUSY_TIMEOUT_MS, options.lockTimeout)}`)
const writer = new Writer(db)
const checkpointer = new Checkpointer(db, options)
const clients = new Set<MessagePort>()

parentPort?.on('message', async (command: WriterCommand) => {
  if (command !== 'close') return accept(command.client)
  await checkpointer.close()
  writer.close()
  for (const client of clients) client.close()
  parentPort?.close()
})

function accept(client: MessagePort): void {
  clients.add(client)
  client.on('close', () => clients.delete(client))
  client.on('message', (request: WriterRequest) => {
    reply([{ client, ...request }, ...receiveOthers(client)])
    checkpointer.afterCommit()
  })
}

/** A request of each other client that has sent one, to commit them together. */
function receiveOthers(first: MessagePort): Received[] {
  const received: Received[] = []
  for (const client of clients) {
    const request = client === first ? undefined : receiveMessageOnPort(client)
    if (request !== undefined) received.push({ client, ...request.message })
  }
  return received
}

function reply(requests: readonly Received[]): void {
  try {
    const deadline = Math.min(...requests.map(({ deadline }) => deadline))
    const results = commit(
      requests.flatMap(({ changes }) => changes),
      deadline,
    )
    let end = 0
    for (const { client, changes } of requests) {
      const start = end
      end += changes.length
      send(client, { result: results.slice(start, end) })
    }
  } catch (error) {
    // A change that is a bug must not fail the changes of other threads.
    const isShared = requests.length > 1 && !(error instanceof StoreUnavailable)
    for (const request of requests) {
      if (isShared) reply([request])
      else send(request.client, toReply(error))
    }
  }
}

function send(client: MessagePort, reply: WriterReply): void {
  client.postMessage(reply)
}

function commit(changes: readonly Change[], deadline: number): ChangeResult[] {
  for (;;) {
    try {
      return writer.commit(changes)
    } catch (error) {
      const isLocked = error instanceof StoreUnavailable && error.reason === 'busy'
      if (!isLocked || Date.now() >= deadline) throw error
    } finally {
      commits.add(1)
    }
  }
}
