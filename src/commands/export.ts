import { pipeline } from 'node:stream/promises'
import { ConfigError, defaultConfig } from '../config/config.ts'
import { fileError } from '../config/file-error.ts'
import { openStore } from '../stores/engines.ts'
import { type Codec, codecs } from '../transfer/codecs.ts'
import { writeCatalogue } from '../transfer/export.ts'
import { type Format, formatOf, SAY_FORMAT, STANDARD } from '../transfer/format.ts'
import { formulaFreeLine } from '../transfer/formulas.ts'
import { type Destination, destinationOf, isClosedPipe } from './destination.ts'
import { type Progress, startProgress } from './progress.ts'
import { onStopSignal } from './signals.ts'
import { spareMemory } from './spare-memory.ts'

export interface ExportOptions {
  readonly database: string
  /** Without it the name of the file says it; on standard output it is NDJSON then. */
  readonly format?: Format
  /** Write CSV that is safe to open in a spreadsheet but cannot be imported unchanged. */
  readonly escapeFormulas?: true
}

/**
 * Writes all plants to a file, or to standard output for `-`. An interrupted export has the exit code of
 * the signal; one whose reader has gone has what was wanted of it, and is no failure.
 *
 * @throws ConfigError if the file cannot be written, or an option does not apply to its format
 */
export async function exportPlants(file: string, options: ExportOptions): Promise<void> {
  const { database, format = file === STANDARD ? 'ndjson' : formatOf(file, SAY_FORMAT) } = options
  const codec = codecOf(format, options)
  spareMemory()
  const { lockTimeout } = defaultConfig()
  const store = await openStore({ database, mustExist: true, lockTimeout, sameThread: true })
  const interruption = new AbortController()
  const { signal } = interruption
  let destination: Destination | undefined
  let progress: Progress | undefined
  // Standard output shows by itself how it goes, there is nothing to tidy up behind it, and a process that
  // waits for its reader would not hear of a signal that it wanted to handle.
  if (file !== STANDARD) {
    progress = startProgress({ what: 'export', unit: 'plants' })
    onStopSignal((code) => {
      process.exitCode = code
      interruption.abort()
    })
  }
  try {
    destination = await destinationOf(file, database)
    const text = writeCatalogue(store.exportPlants(), codec, (plants) => progress?.update(plants))
    await pipeline(text, destination.stream, { signal })
    await destination.publish()
  } catch (error) {
    if (!signal.aborted && !isClosedPipe(error)) {
      throw fileError(`cannot write ${file === STANDARD ? 'standard output' : file}`, error)
    }
  } finally {
    progress?.end()
    await destination?.discard()
    await store.close()
  }
}

function codecOf(format: Format, { escapeFormulas }: ExportOptions): Codec {
  const codec = codecs[format]
  if (!escapeFormulas) return codec
  if (format === 'csv') return { ...codec, line: formulaFreeLine }
  throw new ConfigError(`--escape-formulas is for CSV; the format of this export is ${format}`)
}
