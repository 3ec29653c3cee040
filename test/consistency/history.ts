/**
 * What clients saw. Judges read nothing else about a run, apart from its feed and webhooks.
 *
 * A `Call` is open unless its response says what happened (docs/consistency.md): an open change can take effect at any time
 * after its call, or never. Three marks tell the judges more:
 *
 * - `fence`: no call that began before the mark takes effect after it. Set one once all processes that could still make
 *   the changes have ended.
 * - `settled`: no call that ended before the time `endedBefore` takes effect after the mark. Set one once the database
 *   has ended everything that it was asked to do until then. A service can repeat what it has not yet responded to.
 * - `restored`: from the mark on, the database has these plants and no others. It is a fence too.
 *
 * A history can be saved as JSON lines and judged again. All times are those of `performance.now()` in one process.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseJson, toJson } from '../../client/json.ts'
import type { Change } from '../../service/store/change-feed.ts'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import type { Answer } from '../helpers/service/contract-check.ts'
import type { Content, Patch } from './operations/register.ts'

/** The parameters of an operation; each has those that its entry in `operations/operations.ts` plans. */
export interface Arguments {
  readonly id?: bigint
  readonly content?: Content
  readonly patch?: Patch
  readonly plants?: readonly ListedPlant[]
  readonly changes?: readonly ListedChange[]
  /** The query string. */
  readonly query?: string
  /** The version in If-Match or, for reads, in If-None-Match. */
  readonly version?: string
}

/** A plant to create. */
export interface ListedPlant extends Content {
  readonly id: bigint
}

/** A change in a list. */
export interface ListedChange extends Patch {
  readonly op: 'create' | 'replace' | 'update' | 'remove'
  readonly id: bigint
  /** The version in `ifMatch`. */
  readonly version?: string
}

export interface Call {
  /** The number of a client, or the name of what else made the call. */
  readonly client: number | string
  /** A name in the table of operations. */
  readonly operation: string
  readonly arguments: Arguments
  readonly called: number
  /** When the response arrived or the client gave up; absent if neither happened. */
  ended?: number
  answer?: Pick<Answer, 'status' | 'body'> & { etag?: string; link?: string }
}

export type Mark =
  | { readonly mark: 'fence'; readonly at: number }
  | { readonly mark: 'settled'; readonly at: number; readonly endedBefore: number }
  | { readonly mark: 'restored'; readonly at: number; readonly plants: readonly StoredPlant[] }

/** The whole feed, and the plants, after the last call. */
export interface Feed {
  readonly changes: readonly Change[]
  readonly stored: readonly StoredPlant[]
}

export class History {
  readonly seed: number
  readonly calls: Call[] = []
  readonly marks: Mark[] = []
  feed: Feed | undefined

  constructor(seed: number) {
    this.seed = seed
  }

  fence(): void {
    this.marks.push({ mark: 'fence', at: performance.now() })
  }

  settled(endedBefore = performance.now()): void {
    this.marks.push({ mark: 'settled', at: performance.now(), endedBefore })
  }

  restored(plants: readonly StoredPlant[]): void {
    this.marks.push({ mark: 'restored', at: performance.now(), plants })
  }

  save(file: string): void {
    const feed = this.feed === undefined ? [] : [this.feed]
    const lines = [{ seed: this.seed }, ...feed, ...this.marks, ...this.calls].map((each) =>
      toJson(each),
    )
    writeFileSync(file, `${lines.join('\n')}\n`)
  }

  static load(file: string): History {
    const [first, ...entries] = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => parseJson(line) as { seed: number } | Feed | Mark | Call)
    const history = new History((first as { seed: number }).seed)
    for (const entry of entries as (Feed | Mark | Call)[]) {
      if ('stored' in entry) history.feed = entry
      else if ('mark' in entry) history.marks.push(entry)
      else history.calls.push(entry)
    }
    return history
  }
}

/** Whether the response does not say if the call took effect: 500 and 503, or none (docs/consistency.md). */
export function isOpen({ answer }: Call): boolean {
  return answer === undefined || answer.status >= 500
}

/** Whether the call certainly had no effect. */
export function isRefused({ answer }: Call): boolean {
  return answer !== undefined && [408, 429].includes(answer.status)
}
