import { readdirSync, readFileSync } from 'node:fs'

/** Processor time per request, in microseconds. NaN on systems other than Linux. */
export interface ProcessorTime {
  /** The threads that serve HTTP. */
  readonly httpCpuUs: number
  /** The threads that write to the database file. */
  readonly writerCpuUs: number
  /** The whole process, with V8's threads for compilation and garbage collection. */
  readonly cpuUs: number
}

const UNKNOWN: ProcessorTime = {
  httpCpuUs: Number.NaN,
  writerCpuUs: Number.NaN,
  cpuUs: Number.NaN,
}

/** A thread of a process. */
interface Thread {
  readonly id: number
  /** At most 15 characters; Linux truncates the rest. */
  readonly name: string
  /** Processor time so far. */
  readonly nanoseconds: number
}

/**
 * Starts measuring the processor time of servers. Returns a function that reports the time since then, given the number
 * of requests. Threads that have ended by then do not count.
 */
export function watchThreads(pids: readonly number[]): (requests: number) => ProcessorTime {
  const watches = pids.map((pid) => orUnknown(() => watchProcess(pid)))
  return (requests) => {
    const times = watches.map((report) => orUnknown(() => report?.()) ?? UNKNOWN)
    const perRequest = (of: keyof ProcessorTime) => {
      return times.reduce((sum, time) => sum + time[of], 0) / requests
    }
    const [httpCpuUs, writerCpuUs] = [perRequest('httpCpuUs'), perRequest('writerCpuUs')]
    return { httpCpuUs, writerCpuUs, cpuUs: perRequest('cpuUs') }
  }
}

/** Returns undefined if the process has ended or this is not Linux. */
function orUnknown<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The ids of the threads that serve HTTP: the main thread unless there are workers for it. */
export function httpThreads(pid: number): number[] {
  return selectHttp(pid, readThreads(pid)).map(({ id }) => id)
}

/** Reports the total in microseconds instead of per request. */
function watchProcess(pid: number): () => ProcessorTime {
  const before = new Map(readThreads(pid).map((thread) => [thread.id, thread]))
  return () => {
    const threads = readThreads(pid)
    const time = (some: readonly Thread[]) => {
      const sinceStart = some.map((thread) => elapsed(before.get(thread.id), thread))
      return sinceStart.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1000
    }
    return {
      httpCpuUs: time(selectHttp(pid, threads)),
      writerCpuUs: time(threads.filter(isWriter)),
      cpuUs: time(threads),
    }
  }
}

/** A new thread can have the id of an ended one, so a different name or less time means that it is new. */
function elapsed(before: Thread | undefined, now: Thread): number {
  const isNew = before?.name !== now.name || before.nanoseconds > now.nanoseconds
  return isNew ? now.nanoseconds : now.nanoseconds - before.nanoseconds
}

function selectHttp(pid: number, threads: readonly Thread[]): readonly Thread[] {
  const workers = threads.filter(({ name }) => name.startsWith('plant-http-'))
  return workers.length > 0 ? workers : threads.filter(({ id }) => id === pid)
}

/** The last letter of `plant-checkpoint` is truncated. `WorkerThread` is the writer of versions that do not name it. */
const WRITERS = ['plant-writer', 'plant-checkpoin', 'WorkerThread']

function isWriter({ name }: Thread): boolean {
  return WRITERS.includes(name)
}

function readThreads(pid: number): Thread[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((id) => {
    const read = (file: string) => readFileSync(`/proc/${pid}/task/${id}/${file}`, 'utf8').trim()
    try {
      const [nanoseconds] = read('schedstat').split(' ').map(Number)
      return [{ id: Number(id), name: read('comm'), nanoseconds: nanoseconds ?? 0 }]
    } catch {
      // The thread has ended since it was listed.
      return []
    }
  })
}
