import { setTimeout as delay } from 'node:timers/promises'
import type { Owner } from '../helpers/command.ts'
import { launch } from './attacks/launch.ts'
import { Monitor } from './monitor.ts'
import { Target } from './target.ts'
import { type Latency, missingFrom, type Tally, Witness } from './witness.ts'

export interface TrialOptions {
  readonly database: string
  readonly attack: string
  readonly scale: number
  /** Time limit of the attack in milliseconds. */
  readonly limitMs: number
  /** Arguments of the service. */
  readonly args: readonly string[]
}

export interface Figures {
  readonly attack: string
  readonly scale: number
  /** Peak in MiB. */
  readonly memory: number
  /** In MiB, before the attack. */
  readonly memoryBefore: number
  /** Peak number. */
  readonly descriptors: number
  /** Latency of `/health/live` in milliseconds. */
  readonly latency: Latency
  readonly health: Tally
  readonly creates: Tally
  /** Responses that the attacker read. */
  readonly statuses: Tally
  /** Responses that are not HTTP or not documented, and logged errors. */
  readonly faults: readonly string[]
  readonly acknowledged: number
  readonly lost: number
  /** Whether the service still answered after the attack. */
  readonly survived: boolean
  /** Duration of the stop, and the exit code or signal. */
  readonly stop: { readonly ms: number; readonly end: number | string | null }
}

/** Warm-up before the attack. */
const WARM_UP_MS = 1000

/** Observation after everything is sent, while the service still works on it. */
const HOLD_MS = 10_000

/** More than `--shutdown-timeout` and the exit of the process take. */
const STOP_MS = 20_000

/** Starts a service, attacks it, measures, and stops it while the attacker is still connected. */
export async function tryAttack(owner: Owner, options: TrialOptions): Promise<Figures> {
  const { database, attack, scale, limitMs, args } = options
  const target = await Target.start(owner, database, args)
  const before = new Witness(target.port)
  await delay(WARM_UP_MS)
  await before.stop()

  const memoryBefore = Math.round(target.memory()?.resident ?? Number.NaN)
  const monitor = new Monitor(target)
  const witness = new Witness(target.port, new Map(before.acknowledged))
  const running = launch([attack], target.port, scale)
  await Promise.race([running.done, delay(limitMs)])
  await delay(HOLD_MS)
  const survived = await witness.answered()
  await witness.stop()
  monitor.stop()
  const stop = await target.stop(STOP_MS)
  await running.end()
  return {
    attack,
    scale,
    memory: monitor.memory,
    memoryBefore,
    descriptors: monitor.descriptors,
    latency: witness.latency(),
    health: witness.health,
    creates: witness.creates,
    statuses: running.outcome.statuses,
    faults: [...witness.faults, ...running.outcome.faults, ...target.loggedErrors()],
    acknowledged: witness.acknowledged.size,
    lost: missingFrom(database, witness.acknowledged).length,
    survived,
    stop,
  }
}
