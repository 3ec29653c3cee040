import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { percent } from './statistics.ts'

/** Share of processor time used by other programs above which figures are unreliable. */
export const BUSY = 0.1

/** The processors and the version of Node, on one line. */
export function describeMachine(): string {
  const [first] = cpus()
  return `${cpus().length} × ${first?.model.trim()}, Node ${process.versions.node}`
}

/** Processes to account for separately, by their ids. */
export interface Watched {
  readonly servers?: readonly number[]
  /** A database server, whose child processes do its work. */
  readonly database?: number | undefined
}

/** Shares of the time of all processors, from 0 to 1. NaN on systems other than Linux. */
export interface Shares {
  /** This process and its finished children, such as a load generator. */
  readonly loading: number
  readonly serving: number
  /** The database server, if there is one. */
  readonly storing: number
  readonly others: number
  readonly idle: number
}

/**
 * Starts accounting for processor time. Returns a function that reports the shares since then, and the time of the
 * database server in microseconds.
 */
export function watchProcessors(watched: Watched = {}): () => Shares & { storingUs: number } {
  const before = times(watched)
  return () => {
    const after = times(watched)
    const share = (of: keyof typeof before) => (after[of] - before[of]) / (after.all - before.all)
    const [loading, serving, storing] = [share('loading'), share('serving'), share('storing')]
    const others = Math.max(0, share('used') - loading - serving - storing)
    const storingUs = (after.storing - before.storing) * TICK_US
    return { loading, serving, storing, others, idle: share('idle'), storingUs }
  }
}

/** Linux reports ticks of 10 ms to programs, whatever the kernel's own tick is. */
const TICK_US = 10_000

/** Processor times in clock ticks since the system started. */
function times({ servers = [], database }: Watched) {
  try {
    const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? ''
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, stolen = 0] =
      line.split(/ +/).slice(1).map(Number)
    const used = user + nice + system + stolen
    // Interrupts mostly serve the requests of the benchmark, so they do not count as other load.
    const all = used + idle + wait + irq + softirq
    const storing = database === undefined ? [] : [database, ...listChildren(database)]
    return {
      all,
      used,
      idle: idle + wait,
      loading: processTicks('self'),
      serving: servers.map(processTicks).reduce(sum, 0),
      storing: storing.map(processTicks).reduce(sum, 0),
    }
  } catch {
    const [all, used, idle, loading, serving, storing] = Array(6).fill(Number.NaN)
    return { all, used, idle, loading, serving, storing }
  }
}

function sum(one: number, other: number): number {
  return one + other
}

function listChildren(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

/** The ticks of a process, its ended threads and its finished children; see proc(5). */
function processTicks(pid: number | 'self'): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may contain spaces. The times are fields 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).map(Number).reduce(sum, 0)
}

/** Peak resident memory of a process in MiB. NaN on systems other than Linux. */
export function peakMemory(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Math.round(Number(/VmHWM:\s*(\d+)/.exec(status)?.[1]) / 1024)
  } catch {
    return Number.NaN
  }
}

/** Waits a second, warns if other programs are busy meanwhile, and resolves to their share of processor time. */
export async function warnIfBusy(): Promise<number> {
  const shares = watchProcessors()
  await setTimeout(1000)
  const { others: share } = shares()
  if (share > BUSY) {
    console.log(
      `BUSY: other programs use ${percent(share)} of the processors; the figures will be unreliable.`,
    )
  }
  return share
}
