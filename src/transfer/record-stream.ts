import { setImmediate } from 'node:timers/promises'
import type { ParsedRecord, RecordReader } from './record-reader.ts'

/** Consecutive records of a file. */
export interface RecordBatch {
  readonly records: readonly ParsedRecord[]
  /** Where the batch ends in the file, in bytes from its start. */
  readonly position: number
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff')

const INITIAL_BUFFER_BYTES = 2 ** 18

/**
 * Reads records as the bytes of a file arrive, buffering at most one incomplete record. Ignores a byte order mark at
 * the start. Yields to the event loop after each batch.
 *
 * @throws ConfigError if the file's header is invalid, and the errors of `source`
 */
export async function* readRecords(
  source: AsyncIterable<Buffer>,
  reader: RecordReader,
): AsyncGenerator<RecordBatch, void> {
  // One buffer for the whole file: a new one per chunk would be collected late.
  let buffer = Buffer.allocUnsafe(INITIAL_BUFFER_BYTES)
  let filled = 0
  let needed = BYTE_ORDER_MARK.length
  let done = 0

  async function* read(isLast: boolean): AsyncGenerator<RecordBatch, void> {
    const start = buffer.subarray(0, Math.min(filled, BYTE_ORDER_MARK.length))
    let taken = done === 0 && start.equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
    for (let more = true; more; ) {
      const result = reader.read(buffer.subarray(taken, filled), isLast)
      more = result.more
      taken += result.length
      yield { records: result.records, position: done + taken }
      await setImmediate()
    }
    buffer.copyWithin(0, taken, filled)
    filled -= taken
    done += taken
    // An incomplete record is read again from its start. Doing that only when the bytes have doubled keeps the total
    // time linear in the size of the record.
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
