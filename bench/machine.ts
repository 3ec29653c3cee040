import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { percent } from './statistics.ts'

/** From this share of the processors' time on that goes to others, the numbers say little. */
export const BUSY = 0.1

/** The processors and the program that runs us, in a line. */
export function describeMachine(): string {
  const [first] = cpus()
  return `${cpus().length} × ${first?.model.trim()}, Node ${process.versions.node}`
}

/** Whose work is told apart, by the numbers of their processes. */
export interface Watched {
  readonly servers?: readonly number[]
  /** The one that starts those that do its work. */
  readonly database?: number | undefined
}

/** Shares of the time of all processors, of 1; NaN where there is no Linux to ask. */
export interface Shares {
  /** Of ourselves and the processes that we have waited for, such as a load generator. */
  readonly loading: number
  readonly serving: number
  /** Of the database, where it has processes of its own. */
  readonly storing: number
  readonly others: number
}

/** Begins to watch what the processors do. The function that it gives says whom their time has gone to since. */
export function watchProcessors(watched: Watched = {}): () => Shares {
  const before = times(watched)
  return () => {
    const after = times(watched)
    const share = (of: keyof typeof before) => (after[of] - before[of]) / (after.all - before.all)
    const [loading, serving, storing] = [share('loading'), share('serving'), share('storing')]
    const others = Math.max(0, share('used') - loading - serving - storing)
    return { loading, serving, storing, others }
  }
}

/** In ticks of the system's clock, since it was started. */
function times({ servers = [], database }: Watched) {
  try {
    const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? ''
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, stolen = 0] =
      line.split(/ +/).slice(1).map(Number)
    const used = user + nice + system + stolen
    // Interrupts are mostly for the requests that we send, so they count for nobody.
    const all = used + idle + wait + irq + softirq
    const storing = database === undefined ? [] : [database, ...childrenOf(database)]
    return {
      all,
      used,
      loading: processTicks('self'),
      serving: servers.map(processTicks).reduce(sum, 0),
      storing: storing.map(processTicks).reduce(sum, 0),
    }
  } catch {
    const [all, used, loading, serving, storing] = Array(5).fill(Number.NaN)
    return { all, used, loading, serving, storing }
  }
}

function sum(one: number, other: number): number {
  return one + other
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

/** Of a process and those that it has waited for; see proc(5). */
function processTicks(pid: number | 'self'): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program stands in brackets and may have spaces; the times are the 14th field and on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).map(Number).reduce(sum, 0)
}

/** The most memory that a process has had, in MiB; NaN where there is no Linux to ask. */
export function peakMemory(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Math.round(Number(/VmHWM:\s*(\d+)/.exec(status)?.[1]) / 1024)
  } catch {
    return Number.NaN
  }
}

/** Watches for a second, in which we do nothing, and prints a warning if others do much; gives their share. */
export async function warnIfBusy(): Promise<number> {
  const shares = watchProcessors()
  await setTimeout(1000)
  const { others: share } = shares()
  if (share > BUSY) {
    console.log(
      `BUSY: others take ${percent(share)} of the processors now; the figures will say little.`,
    )
  }
  return share
}
