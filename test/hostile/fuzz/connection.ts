import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Judge } from '../judge.ts'
import { isStream, type Response, ResponseReader } from '../responses.ts'
import type { Plan } from './plan.ts'

/** The client ends an idle connection after this time. */
const QUIET_MS = 300

/** A connection that is still open after this time is a finding. */
const LONGEST_MS = 20_000

/** Pause between two reads or writes of a slow client. */
const PAUSE_MS = 50

/** The outcome of a connection. */
export interface Result {
  /** Requests that were written, at least in part. */
  readonly written: number
  readonly statuses: readonly number[]
  /** Acknowledged plants. */
  readonly kept: readonly { readonly id: bigint; readonly name: string }[]
  readonly wasReset: boolean
  /** The first fault, with the response that shows it. */
  readonly fault?: { readonly reason: string; readonly response?: Response }
}

type Fault = NonNullable<Result['fault']>

/** Carries out a plan. Resolves when the connection is closed. */
export async function runConnection(port: number, plan: Plan, judge: Judge): Promise<Result> {
  const { requests, ending } = plan
  const socket = connect({ port, host: '127.0.0.1', localAddress: plan.localAddress })
  const isLeft = ending === 'abandon' || ending === 'reset' || plan.reading === 'never'
  const statuses: number[] = []
  const kept: { id: bigint; name: string }[] = []
  const lead = requests.findIndex(({ known }) => known === undefined)
  const knownCount = lead < 0 ? requests.length : lead
  let fault: Fault | undefined
  let wasReset = false
  let last: Response | undefined

  const onResponse = (response: Response) => {
    const request = statuses.length < knownCount ? requests[statuses.length] : undefined
    const isAfterLast = last?.headers.connection === 'close'
    statuses.push(response.status)
    last = response
    const reason =
      // RFC 9112 §9.6.
      (isAfterLast && 'a response after Connection: close') ||
      (statuses.length > requests.length && lead < 0 && 'more responses than requests') ||
      judge.faultOf(response, request?.known) ||
      faultOfPlant(response, request?.plant)
    if (reason && fault === undefined) fault = { reason, response }
    // The client leaves, because a stream does not end.
    if (isStream(response)) socket.destroy()
    if (response.status === 200 && request?.plant !== undefined) kept.push(request.plant)
  }
  const reader = new ResponseReader(onResponse)
  /** Checks the end of a connection that the client has read completely. */
  const faultOfEnd = (): Fault | undefined => {
    try {
      if (!reader.end()) return { reason: 'the last response is incomplete' }
    } catch (error) {
      return { reason: `not HTTP: ${(error as Error).message}` }
    }
    if (fault !== undefined) return fault
    if (statuses.length >= knownCount || last?.headers.connection === 'close') return undefined
    return { reason: 'a request was not answered', ...(last && { response: last }) }
  }
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
  })
  let quiet: NodeJS.Timeout | undefined
  let isWritten = false
  const waitForMore = () => {
    clearTimeout(quiet)
    if (isWritten && ending === 'wait') quiet = setTimeout(() => socket.end(), QUIET_MS)
  }
  socket.on('error', () => {
    wasReset = true
  })
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk)
    } catch (error) {
      fault ??= { reason: `not HTTP: ${(error as Error).message}` }
      socket.destroy()
    }
    waitForMore()
    if (plan.reading === 'slow') rest(socket)
  })
  if (plan.reading === 'never') socket.pause()
  const longest = setTimeout(() => {
    fault ??= { reason: `still open after ${LONGEST_MS} ms` }
    socket.destroy()
  }, LONGEST_MS)

  await write(socket, plan)
  isWritten = true
  if (ending === 'half-close') socket.end()
  else if (ending === 'wait') waitForMore()
  if (isLeft) await leave(socket, plan)
  await closed
  clearTimeout(quiet)
  clearTimeout(longest)
  if (!isLeft && !wasReset && fault === undefined) {
    fault = faultOfEnd()
  }
  const written = writtenOf(plan, socket.bytesWritten)
  return { written, statuses, kept, wasReset, ...(fault && { fault }) }
}

/** Only this connection uses the id, so the create succeeds unless the service is too busy or the client too slow. */
function faultOfPlant({ status, body }: Response, plant?: { name: string }): string | undefined {
  if (plant === undefined || status === 503 || status === 408) return undefined
  const wanted = JSON.stringify({ name: plant.name })
  return status === 200 && body.toString() === wanted ? undefined : `a create got ${status}`
}

async function write(socket: Socket, { requests, writing, cuts }: Plan): Promise<void> {
  const whole = Buffer.concat(requests.map(({ bytes }) => bytes))
  if (writing === 'whole') {
    socket.write(whole)
    return
  }
  let from = 0
  for (const cut of [...cuts, 1]) {
    const to = Math.floor(cut * whole.length)
    if (socket.destroyed || !socket.writable) return
    await new Promise<void>((resolve) => {
      socket.write(whole.subarray(from, to), () => resolve())
    })
    if (writing === 'slow') await delay(PAUSE_MS)
    from = to
  }
}

async function leave(socket: Socket, { ending, reading, cuts: [share = 0] }: Plan): Promise<void> {
  await delay(share * (reading === 'never' ? 1000 : 30))
  if (ending === 'reset') socket.resetAndDestroy()
  else socket.destroy()
}

function rest(socket: Socket): void {
  socket.pause()
  setTimeout(() => socket.resume(), PAUSE_MS)
}

/** Counts the requests that a number of bytes covers. */
function writtenOf({ requests }: Plan, bytes: number): number {
  let end = 0
  let written = 0
  for (const request of requests) {
    if (end >= bytes) break
    end += request.bytes.length
    written++
  }
  return written
}
