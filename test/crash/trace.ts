/** What strace has seen of a process, and whether each answer was sent only when its change was on disk. */
import { readFileSync } from 'node:fs'

/** strace's arguments for what `readTrace` reads: all of the data, in hexadecimal, and what files are. */
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
  /** Moments, in lines of the trace: when it was entered, and when it had returned. */
  readonly begin: number
  readonly end: number
}

const STARTED = /^(\d+) +(\w+\(.*?) *<unfinished \.\.\.>$/
const RESUMED = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/
const WHOLE = /^(\d+) +(\w+\(.*)$/
const SUCCEEDED = /^(\w+)\(\d+<([^>]*)>(.*)\) += \d+$/

/** Of the threads of a process another one may be seen between the entry of a call and its return. */
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

/** Those of the texts, each in one change and in its answer, that were answered before they were on disk. */
export function answeredTooEarly(calls: readonly Call[], texts: readonly string[]): string[] {
  const written = calls.filter((call) => isWal(call) && !isSync(call))
  return texts.filter((text) => {
    const answer = calls.find((call) => isSent(call) && call.data.includes(text))
    const page = written.findIndex(({ data }) => data.includes(text))
    if (answer === undefined || page < 1) throw new Error(`${text} is not in the trace`)
    // A page of the log is behind its header, and that of the last one of a transaction says so.
    const committing = written.findIndex((call, index) => index >= page - 1 && isCommit(call))
    const last = written[committing + 1]
    return committing < 0 || last === undefined || !isSynced(calls, last, answer)
  })
}

/**
 * Those of the answers, to changes that were made one after the other, before which there was nothing
 * written to the log since the one before, or that was not on disk; each by its number, from 0.
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

/** Whether the log was brought to disk between a write to it and an answer. */
function isSynced(calls: readonly Call[], write: Call, answer: Call): boolean {
  const between = ({ begin, end }: Call) => begin > write.end && end < answer.begin
  return calls.some((call) => isWal(call) && isSync(call) && between(call))
}
