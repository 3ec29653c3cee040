/** Reads a trace of strace, and finds responses that were sent before their change was on disk. */
import { readFileSync } from 'node:fs'

/** strace's options for `readTrace`: complete data in hexadecimal, and the paths of files. */
export const TRACED = [
  ...['-f', '--seccomp-bpf', '-qq', '-xx', '-y', '-s', '1000000', '-e', 'signal=none'],
  ...['-e', 'trace=pwrite64,write,writev,sendto,sendmsg,fsync,fdatasync'],
]

/** A system call that succeeded. */
export interface Call {
  readonly name: string
  /** The path of its file, or `socket:[…]`. */
  readonly file: string
  readonly data: Buffer
  /** Line numbers of its entry and its return in the trace. */
  readonly begin: number
  readonly end: number
}

const STARTED = /^(\d+) +(\w+\(.*?) *<unfinished \.\.\.>$/
const RESUMED = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/
const WHOLE = /^(\d+) +(\w+\(.*)$/
const SUCCEEDED = /^(\w+)\(\d+<([^>]*)>(.*)\) += \d+$/

/** Calls of other threads may be between the entry and the return of a call. */
export function readTrace(file: string): Call[] {
  const calls: Call[] = []
  const underWay = new Map<string, { text: string; begin: number }>()
  for (const [moment, line] of readFileSync(file, 'latin1').split('\n').entries()) {
    const [, starting = '', start = ''] = STARTED.exec(line) ?? []
    if (starting !== '') {
      underWay.set(starting, { text: start, begin: moment })
      continue
    }
    const [, thread = '', rest = ''] = RESUMED.exec(line) ?? WHOLE.exec(line) ?? []
    const { text, begin } = underWay.get(thread) ?? { text: '', begin: moment }
    underWay.delete(thread)
    const [, name = '', path = '', more = ''] = SUCCEEDED.exec(text + rest) ?? []
    if (name === '') continue
    const strings = Array.from(more.matchAll(/"([^"]*)"/g), ([, hex = '']) => bytesOf(hex))
    const data = Buffer.concat(strings)
    calls.push({ name, file: bytesOf(path).toString(), data, begin, end: moment })
  }
  return calls
}

function bytesOf(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll('\\x', ''), 'hex')
}

const isWal = ({ file }: Call) => file.endsWith('-wal')
const isSync = ({ name }: Call) => name === 'fsync' || name === 'fdatasync'
const isSent = ({ file }: Call) => file.startsWith('socket:')

/** Finds the markers whose response was sent before their change was on disk. A marker is unique to one change. */
export function answeredTooEarly(calls: readonly Call[], markers: readonly string[]): string[] {
  const written = calls.filter((call) => isWal(call) && !isSync(call))
  return markers.filter((marker) => {
    const answer = calls.find((call) => isSent(call) && call.data.includes(marker))
    const page = written.findIndex(({ data }) => data.includes(marker))
    if (answer === undefined || page < 1) throw new Error(`${marker} is not in the trace`)
    // Each page of the log follows its header, which marks the last page of a transaction.
    const committing = written.findIndex((call, index) => index >= page - 1 && isCommit(call))
    const last = written[committing + 1]
    return committing < 0 || last === undefined || !isSynced(calls, last, answer)
  })
}

/**
 * For changes made one after the other: finds the responses, numbered from 0, before which nothing was written to the
 * log since the previous response, or the last write was not yet on disk.
 */
export function answeredUnsynced(calls: readonly Call[]): { answers: number; early: number[] } {
  const answers = calls.filter((call) => isSent(call) && call.data.includes('HTTP/1.1 2'))
  const early = answers.flatMap((answer, number) => {
    const since = answers[number - 1]?.end ?? 0
    const last = calls.findLast((call) => isWal(call) && !isSync(call) && call.begin < answer.begin)
    const fine = last !== undefined && last.begin > since && isSynced(calls, last, answer)
    return fine ? [] : [number]
  })
  return { answers: answers.length, early }
}

/** https://www.sqlite.org/fileformat2.html#walformat */
function isCommit({ data }: Call): boolean {
  return data.length === 24 && data.readUInt32BE(4) !== 0
}

/** Whether the log was synced between a write to it and a response. */
function isSynced(calls: readonly Call[], write: Call, answer: Call): boolean {
  const between = ({ begin, end }: Call) => begin > write.end && end < answer.begin
  return calls.some((call) => isWal(call) && isSync(call) && between(call))
}
