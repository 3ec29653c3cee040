import type { OnConflict } from '../../service/plant-store.ts'
import { defaultConfig } from '../config/config.ts'
import { openStore } from '../stores/engines.ts'
import { codecs } from '../transfer/codecs.ts'
import { plantCheck } from '../transfer/entry.ts'
import { type Format, formatOf, SAY_FORMAT } from '../transfer/format.ts'
import { type Counts, type OnError, storePlants } from '../transfer/import.ts'
import { printable } from '../transfer/printable.ts'
import { readBatches } from '../transfer/record-stream.ts'
import { bytesOf, openSource } from '../transfer/source.ts'
import { print } from './destination.ts'
import { startProgress } from './progress.ts'
import { onStopSignal } from './signals.ts'
import { spareMemory } from './spare-memory.ts'

export interface ImportOptions {
  readonly database: string
  /** Without it the name of the file says it. */
  readonly format?: Format
  readonly onConflict: OnConflict
  readonly onError: OnError
  /** How many bytes a record may have. */
  readonly recordLimit: number
}

/** The exit code when all is done, but some records were refused. */
const SOME_REFUSED = 2

/**
 * Stores the plants of a file, or of standard input for `-`: tells on standard error which records were
 * refused and why, and prints a summary. Sets the exit code: 1 if it was stopped by a record, 2 if it
 * skipped some, that of the signal if one has interrupted it.
 *
 * @throws ConfigError if the file cannot be read or is no catalogue
 */
export async function importPlants(file: string, options: ImportOptions): Promise<void> {
  const {
    database,
    onConflict,
    onError,
    recordLimit,
    format = formatOf(file, SAY_FORMAT),
  } = options
  spareMemory()
  const { source, size } = await openSource(file)
  const counts: Counts = { created: 0, replayed: 0, replaced: 0, kept: 0, refused: 0 }
  let interrupted: number | undefined
  const chunks = bytesOf(file, source, () => interrupted !== undefined)
  // Whoever reads what is refused may go, as `| head` does; what is not refused is stored all the same.
  process.stderr.on('error', () => {})
  const { lockTimeout } = defaultConfig()
  const store = await openStore({ database, lockTimeout, sameThread: true })
  const progress = startProgress({
    what: 'import',
    unit: 'bytes',
    ...(size !== undefined && { total: size }),
  })
  try {
    onStopSignal((code) => {
      interrupted = code
      source.destroy()
    })
    const { Reader } = codecs[format]
    const batches = readBatches(chunks, new Reader(plantCheck(), recordLimit))
    const complete = await storePlants(batches, {
      store,
      onConflict,
      onError,
      counts,
      refuse: (line, reason) => progress.say(`line ${line}: ${printable(reason)}`),
      progress: (position) => progress.update(position),
    })
    if (!complete) process.exitCode = 1
    else process.exitCode = interrupted ?? (counts.refused > 0 ? SOME_REFUSED : 0)
  } finally {
    progress.end()
    source.destroy()
    await store.close()
    await print(summary(counts))
  }
}

function summary(counts: Counts): string {
  return Object.entries(counts)
    .map(([what, count]) => `${what} ${count}\n`)
    .join('')
}
