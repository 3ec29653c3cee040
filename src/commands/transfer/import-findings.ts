import { escapeControlCharacters } from '../../system/control-characters.ts'
import type { Counts, OnError, RecordPlants } from '../../transfer/import.ts'
import type { OnConflict, StoredResult } from '../../transfer/import-changes.ts'
import { type DryRun, quotePlant } from './dry-run.ts'

/** How to import the records after one that stops the import. */
const HINTS = {
  conflict: 'use --on-conflict keep, replace or update to import the rest',
  invalid: 'use --on-error skip to import the rest',
}

interface Policy {
  readonly onConflict: OnConflict
  readonly onError: OnError
}

/** Describes what a dry run finds: the first record with each result, and where an import would stop. */
export class ImportPreview {
  readonly #dryRun: Pick<DryRun, 'hasForgotten'>
  readonly #stops: { readonly conflict: boolean; readonly invalid: boolean }
  readonly #firsts = new Map<keyof Counts, string>()
  #stop: { readonly record: string; readonly hint: string } | undefined

  constructor(dryRun: Pick<DryRun, 'hasForgotten'>, { onConflict, onError }: Policy) {
    this.#dryRun = dryRun
    this.#stops = { conflict: onConflict === 'stop', invalid: onError === 'stop' }
  }

  /** Whether a record would stop an import. */
  get isStopped(): boolean {
    return this.#stop !== undefined
  }

  /** See RecordImportOptions.onFirst. */
  noteFirst(result: StoredResult, where: string, plants: RecordPlants): void {
    const isDifferent = result === 'replaced' || result === 'updated' || result === 'kept'
    const content = isDifferent ? compare(plants) : quotePlant(plants.plant)
    this.#firsts.set(result, `${where}: ${content}`)
  }

  /** See RecordImportOptions.onRefused. */
  noteRefused(where: string, reason: string, conflict?: RecordPlants): void {
    const kind = conflict === undefined ? 'invalid' : 'conflict'
    const isFirst = !this.#firsts.has('refused')
    const isStop = this.#stops[kind] && this.#stop === undefined
    if (!isFirst && !isStop) return
    const content = conflict === undefined ? '' : `: ${compare(conflict)}`
    const record = `${where}: ${escapeControlCharacters(reason)}${content}`
    if (isFirst) this.#firsts.set('refused', record)
    if (isStop) this.#stop = { record: isFirst ? where : record, hint: HINTS[kind] }
  }

  /** The first record with a result, as a line of the summary. */
  describeFirst(result: keyof Counts): string {
    const first = this.#firsts.get(result)
    return first === undefined ? '' : `  first: ${first}\n`
  }

  /** The end of the summary. */
  describeEnd(): string {
    const lines = ['dry run: nothing was stored\n']
    if (this.#stop !== undefined) {
      const { record, hint } = this.#stop
      lines.unshift(`an import would stop at ${record}; ${hint}\n`)
    }
    if (this.#dryRun.hasForgotten) {
      lines.unshift(
        'too many plants would change to remember them all: later records that repeat an id can be counted wrongly\n',
      )
    }
    return lines.join('')
  }
}

/** Quotes a plant next to the one that it differs from. */
function compare({ plant, before = plant }: RecordPlants): string {
  const [quoted, stored] = [quotePlant(plant), quotePlant(before)]
  const note = quoted === stored ? ' (they differ after the part shown)' : ''
  return `${quoted}; stored: ${stored}${note}`
}
