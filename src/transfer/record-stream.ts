import { setImmediate } from 'node:timers/promises'
import type { Entry } from './entry.ts'
import type { RecordReader } from './record-reader.ts'

/** Records that were read together. */
export interface RecordBatch {
  readonly entries: readonly Entry[]
  /** How many bytes of the catalogue are behind us, from its beginning. */
  readonly position: number
}

/** A file may begin with it, and means nothing by it. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

const INITIAL_SIZE = 2 ** 18

/**
 * Reads a catalogue as its bytes arrive, buffering at most one record. Yields to the event loop after each
 * batch.
 *
 * @throws ConfigError if it is no catalogue at all, and what `source` throws
 */
export async function* readBatches(
  source: AsyncIterable<Buffer>,
  reader: RecordReader,
): AsyncGenerator<RecordBatch, void> {
  // One buffer for all: a new one for each chunk would be garbage that is collected late.
  let buffer = Buffer.allocUnsafe(INITIAL_SIZE)
  let filled = 0
  let needed = BYTE_ORDER_MARK.length
  let done = 0

  async function* read(ended: boolean): AsyncGenerator<RecordBatch, void> {
    const beginning = buffer.subarray(0, Math.min(filled, BYTE_ORDER_MARK.length))
    let taken = done === 0 && beginning.equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
    for (let more = true; more; ) {
      const records = reader.read(buffer.subarray(taken, filled), ended)
      more = records.more
      taken += records.length
      yield { entries: records.entries, position: done + taken }
      await setImmediate()
    }
    buffer.copyWithin(0, taken, filled)
    filled -= taken
    done += taken
    // What is not whole is read again with what follows. Were that done with each chunk, a large record
    // would cost the square of its size.
    needed = taken === 0 ? filled * 2 : 0
  }

  for await (const chunk of source) {
    if (filled + chunk.length > buffer.length) {
      buffer = Buffer.concat([buffer.subarray(0, filled)], (filled + chunk.length) * 2)
    }
    filled += chunk.copy(buffer, filled)
    if (filled >= needed) yield* read(false)
  }
  yield* read(true)
}
