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

/**
 * Begins to watch what the processors do. The function that it gives says which share of their time has
 * gone since to others than us, the processes that we have waited for and the one named; NaN where there
 * is no Linux to ask.
 */
export function watchOthers(pid?: number): () => number {
  const before = times(pid)
  return () => {
    const after = times(pid)
    const used = after.used - before.used - (after.ours - before.ours)
    return Math.max(0, used / (after.all - before.all))
  }
}

/** In ticks of the system's clock, since it was started. */
function times(pid: number | undefined): { all: number; used: number; ours: number } {
  try {
    const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? ''
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, stolen = 0] =
      line.split(/ +/).slice(1).map(Number)
    const used = user + nice + system + stolen
    // Interrupts are mostly for the requests that we send, so they count for nobody.
    const all = used + idle + wait + irq + softirq
    const ours = processTicks('self') + (pid === undefined ? 0 : processTicks(pid))
    return { all, used, ours }
  } catch {
    return { all: Number.NaN, used: Number.NaN, ours: Number.NaN }
  }
}

/** Of a process and those that it has waited for; see proc(5). */
function processTicks(pid: number | 'self'): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program stands in brackets and may have spaces; the times are the 14th field and on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
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
  const others = watchOthers()
  await setTimeout(1000)
  const share = others()
  if (share > BUSY) {
    console.log(
      `BUSY: others take ${percent(share)} of the processors now; the figures will say little.`,
    )
  }
  return share
}
