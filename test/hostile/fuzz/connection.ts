import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Judge } from '../judge.ts'
import { isStream, type Response, ResponseReader } from '../responses.ts'
import type { Plan, Sent } from './plan.ts'

/** The client ends a connection that is idle for this time. */
const QUIET_MS = 300

/** A request that follows an unanswered one is pipelined, and then need not be answered. A busy machine takes longer. */
const ANSWER_MS = 30_000

/** A connection that is still open after this time is a fault. */
const LONGEST_MS = 60_000

/** Pause between two reads or writes of a slow client. */
const PAUSE_MS = 50

export interface Fault {
  readonly reason: string
  readonly response?: Response | undefined
}

/** The outcome of a connection. */
export interface Result {
  readonly statuses: readonly number[]
  /** Acknowledged plants. */
  readonly kept: readonly { readonly id: bigint; readonly name: string }[]
  /** The first fault. */
  readonly fault: Fault | undefined
}

/** Carries out a plan. Resolves when the connection is closed. */
export async function runConnection(port: number, plan: Plan, judge: Judge): Promise<Result> {
  const { requests, ending, reading } = plan
  const firstUnknown = requests.findIndex(({ known }) => known === undefined)
  const knownCount = firstUnknown < 0 ? requests.length : firstUnknown
  const statuses: number[] = []
  const kept: { id: bigint; name: string }[] = []
  let fault: Fault | undefined
  /** Whether the client leaves, or the connection fails, before all responses are read. */
  let isCut = ending === 'abandon' || ending === 'reset' || reading === 'never'
  let last: Response | undefined
  let proceed = () => {}

  const socket = connect({ port, host: '127.0.0.1', localAddress: plan.localAddress })
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
  })
  const findFault = (response: Response): string | false | undefined => {
    const request = statuses.length < knownCount ? requests[statuses.length] : undefined
    // RFC 9112 §9.6.
    if (last?.headers.connection === 'close') return 'a response after Connection: close'
    if (statuses.length >= requests.length && firstUnknown < 0) {
      return 'more responses than requests'
    }
    if (response.status === 200 && request?.plant !== undefined) kept.push(request.plant)
    return judge.faultOf(response, request?.known) ?? faultOfPlant(response, request?.plant)
  }
  const reader = new ResponseReader((response) => {
    const reason = findFault(response)
    if (reason) fault ??= { reason, response }
    statuses.push(response.status)
    last = response
    proceed()
    // The client leaves, because a stream does not end.
    if (isStream(response)) socket.destroy()
  })
  /** Checks the end of a connection that the client has read completely. */
  const findFaultOfEnd = (): string | undefined => {
    if (!reader.end()) return 'the last response is incomplete'
    // The head of a response can be sent before a pipelined request arrives, which is then not answered.
    const needed = plan.writing === 'in turn' ? knownCount : Math.min(knownCount, 1)
    const isAnswered = statuses.length >= needed || last?.headers.connection === 'close'
    return isAnswered ? undefined : 'a request was not answered'
  }
  const parse = (act: () => string | undefined) => {
    try {
      const reason = act()
      if (reason !== undefined) fault ??= { reason, response: last }
    } catch (error) {
      fault ??= { reason: `not HTTP: ${(error as Error).message}` }
      socket.destroy()
    }
  }
  let quiet: NodeJS.Timeout | undefined
  let isWritten = false
  const waitForMore = () => {
    clearTimeout(quiet)
    if (isWritten && ending === 'wait') quiet = setTimeout(() => socket.end(), QUIET_MS)
  }
  socket.on('error', () => {
    isCut = true
  })
  socket.on('data', (chunk: Buffer) => {
    parse(() => void reader.push(chunk))
    waitForMore()
    if (reading !== 'slow') return
    socket.pause()
    setTimeout(() => socket.resume(), PAUSE_MS)
  })
  if (reading === 'never') socket.pause()
  const longest = setTimeout(() => {
    fault ??= { reason: `still open after ${LONGEST_MS} ms` }
    socket.destroy()
  }, LONGEST_MS)

  const answer = (request: Sent | undefined) => {
    const answered = new Promise<void>((resolve) => {
      proceed = resolve
      // The response to HEAD is recognized by what follows it.
      if (request?.known?.method === 'HEAD') socket.once('data', () => resolve())
    })
    // A broken request may have no response.
    const limitMs = request?.known === undefined ? QUIET_MS : ANSWER_MS
    return Promise.race([answered, closed, delay(limitMs)])
  }
  for (const [index, piece] of piecesOf(plan).entries()) {
    if (!socket.writable || last?.headers.connection === 'close') break
    const written = new Promise((resolve) => socket.write(piece, 'latin1', resolve))
    await (plan.writing === 'in turn' && reading !== 'never' ? answer(requests[index]) : written)
    if (plan.writing === 'slow') await delay(PAUSE_MS)
  }
  isWritten = true
  if (ending === 'half-close') socket.end()
  else if (ending === 'wait') waitForMore()
  if (isCut) await leave(socket, plan)
  await closed
  clearTimeout(quiet)
  clearTimeout(longest)
  if (!isCut && fault === undefined) parse(findFaultOfEnd)
  return { statuses, kept, fault }
}

/** Only this connection uses the id, so the create succeeds unless the service is too busy or the client too slow. */
function faultOfPlant({ status, body }: Response, plant?: { name: string }): string | undefined {
  if (plant === undefined || status === 503 || status === 408) return undefined
  const wanted = JSON.stringify({ name: plant.name })
  return status === 200 && body.toString() === wanted ? undefined : `a create got ${status}`
}

function piecesOf({ requests, writing, cuts }: Plan): string[] {
  const parts = requests.map(({ bytes }) => bytes)
  if (writing === 'in turn') return parts
  const whole = parts.join('')
  if (writing === 'whole') return [whole]
  const ends = [...cuts.map((cut) => Math.floor(cut * whole.length)), whole.length]
  return ends.map((end, index) => whole.slice(ends[index - 1] ?? 0, end))
}

async function leave(socket: Socket, { ending, reading, cuts: [share = 0] }: Plan): Promise<void> {
  await delay(share * (reading === 'never' ? 1000 : 30))
  if (ending === 'reset') socket.resetAndDestroy()
  else socket.destroy()
}
