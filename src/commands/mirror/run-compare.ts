import {
  isConsistent,
  type RestrictionReader,
  readRestriction,
} from '../../../service/restriction.ts'
import { type Comparison, compareMirror } from '../../mirror/compare.ts'
import { describeDatabase } from '../../stores/engines.ts'
import { CommandError, Interrupted } from '../../system/user-errors.ts'
import { print } from '../console/output.ts'
import { startProgress } from '../console/progress.ts'
import { onStopSignal } from '../console/signals.ts'
import { withStore } from '../console/store-access.ts'
import { readStoredContract } from '../console/stored-contract.ts'
import { prepareSource } from './source-access.ts'

export interface CompareCommandOptions {
  readonly database: string
  readonly tokenFile?: string
}

const EXIT_DIFFERENT = 2

/** Enough for the restart of a service: some six seconds. */
const RETRIES = 5

/** How many differences are printed. */
const PRINTED_MAX = 20

/**
 * Compares a mirror with its source, and prints the result. A difference sets the exit code to 2.
 *
 * @throws ConfigError if an argument is invalid; CommandError if the database is not a mirror that has copied all plants;
 *   FileError; StoreError; MirrorError; SourceUnavailable; Interrupted
 */
export async function runCompare(url: string, options: CompareCommandOptions): Promise<void> {
  const { database, tokenFile } = options
  const stop = new AbortController()
  const openSource = prepareSource(url, tokenFile, { signal: stop.signal, retries: RETRIES })
  onStopSignal((exitCode) => stop.abort(new Interrupted(exitCode)))
  await withStore({ database }, async (store) => {
    const cursor = await readMirrorCursor(store, database)
    const { fields, members } = await readStoredContract(store)
    const source = openSource(fields)
    const at = new Date()
    const progress = startProgress({ what: 'compare', unit: 'plants' })
    const onProgress = (equal: number) => progress.update(equal)
    const comparison = await compareMirror({
      cursor,
      mirror: store,
      members,
      source,
      onProgress,
    }).finally(() => progress.end())
    await print(describe(comparison, at))
    if (comparison.differences.size > 0) process.exitCode = EXIT_DIFFERENT
  })
}

/** @throws CommandError */
async function readMirrorCursor(store: RestrictionReader, database: string): Promise<string> {
  const mirror = await readRestriction(store)
  if (typeof mirror === 'object' && isConsistent(mirror)) return mirror.cursor
  const state =
    typeof mirror === 'object' ? `still copying the plants of ${mirror.source}` : 'not a mirror'
  throw new CommandError(`${describeDatabase(database)} is ${state}`)
}

/** @param at when the position of the mirror was read */
function describe({ equal, changed, differences }: Comparison, at: Date): string {
  const { size } = differences
  const others = changed === 0 ? '' : `; ${format(changed)} others have changed since`
  const position = `up to the mirror's position at ${at.toISOString()}${others}\n`
  if (size === 0) return `equal: ${format(equal)} plants, ${position}`
  const lines = differences.entries().map(([id, difference]) => `plant ${id}: ${difference}\n`)
  const more = size > PRINTED_MAX ? `and ${format(size - PRINTED_MAX)} more\n` : ''
  const first = [...lines.take(PRINTED_MAX)].join('')
  return `found ${format(size)} differences, ${position}${first}${more}`
}

function format(count: number): string {
  return count.toLocaleString('en')
}
