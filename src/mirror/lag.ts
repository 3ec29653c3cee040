import { systemClock } from '../../core/time/clock.ts'
import type { FeedPage, MirrorSource } from './source.ts'

/** Receives the progress of a mirror. */
export interface MirrorReport {
  /** @param plants how many this process has copied so far */
  copied(plants: number): void
  /** @param reason in one line */
  behind(reason: string): void
  caughtUp(): void
}

/** A mirror is behind if it has not applied a change after this time, or cannot know whether there is one. */
const LAG_MS_MAX = 10_000

const SILENT = `nothing was read or applied for ${LAG_MS_MAX / 1000} s`

/** How often to ask where the feed ends, while it does not seem to end. */
const INTERVAL_MS = 1000

/** Reports when a mirror falls behind or catches up, once each time. */
export class Lag {
  isBehind = true
  readonly #source: MirrorSource
  readonly #report: MirrorReport
  /** Fires if there are no more steps. */
  #timer: NodeJS.Timeout | undefined
  /** The failure of the last step, if it has failed. */
  #failure: string | undefined
  #reason: string | undefined
  #endedAt = Number.NEGATIVE_INFINITY
  /** The end of the feed at some time. Under load, the mirror may never read an empty page. */
  #end: { readonly cursor: string; readonly at: number } | undefined

  constructor(source: MirrorSource, report: MirrorReport) {
    this.#source = source
    this.#report = report
    this.step()
  }

  /** Takes note of a step that has succeeded. */
  step(): void {
    this.stop()
    this.#timer = setTimeout(() => this.fallBehind(this.#failure ?? SILENT), LAG_MS_MAX)
    this.#failure = undefined
  }

  /** Takes note of a step that has failed. A single failure is not reported at once. */
  fail(reason: string): void {
    if (this.#failure !== undefined) this.fallBehind(reason)
    this.#failure = reason
  }

  /** Reports that the mirror is behind. */
  fallBehind(reason: string): void {
    this.isBehind = true
    if (reason !== this.#reason) this.#report.behind(reason)
    this.#reason = reason
  }

  /** Ends the reports. */
  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Takes note of changes that were applied, or of the end of the feed. */
  async note(changes: FeedPage['changes']): Promise<void> {
    const now = systemClock.monotonic()
    const last = changes.at(-1)?.cursor
    if (last !== undefined && this.#end === undefined && now - this.#endedAt > INTERVAL_MS) {
      this.#end = { cursor: (await this.#source.readChanges('latest')).cursor, at: now }
    }
    const { cursor, at } = this.#end ?? { at: now }
    const isEnd = last === undefined || changes.some((change) => change.cursor === cursor)
    if (last !== undefined && now - at > LAG_MS_MAX) {
      this.fallBehind('there are more changes than the mirror can apply in time')
    } else if (isEnd) {
      this.#catchUp()
    }
    if (isEnd) {
      this.#end = undefined
      this.#endedAt = now
    }
  }

  #catchUp(): void {
    if (this.isBehind) this.#report.caughtUp()
    this.isBehind = false
    this.#reason = undefined
  }
}
