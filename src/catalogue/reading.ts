import type { Entry } from './entry.ts'
import type { RecordReader } from './record-reader.ts'

/** Records that were read together. */
export interface Portion {
  readonly entries: readonly Entry[]
  /** How many bytes of the catalogue are behind us, from its beginning. */
  readonly position: number
}

/** A file may begin with it, and means nothing by it. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

const INITIAL_SIZE = 2 ** 18

/**
 * Reads a catalogue as its bytes come in, and keeps no more of them than a record needs.
 *
 * @throws ConfigError if it is no catalogue at all, and what `source` throws
 */
export async function* readPortions(
  source: AsyncIterable<Buffer>,
  reader: RecordReader,
): AsyncGenerator<Portion, void> {
  // One buffer for all: a new one for each chunk would be garbage that is collected late.
  let buffer = Buffer.allocUnsafe(INITIAL_SIZE)
  let filled = 0
  let needed = BYTE_ORDER_MARK.length
  let done = 0

  const read = (ended: boolean): Portion => {
    const bytes = buffer.subarray(0, filled)
    const mark = done === 0 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    const start = mark ? BYTE_ORDER_MARK.length : 0
    const { entries, length } = reader.read(bytes.subarray(start), ended)
    const taken = start + length
    buffer.copyWithin(0, taken, filled)
    filled -= taken
    done += taken
    // What is not whole is read again with what follows. Were that done with each chunk, a large record
    // would cost the square of its size.
    needed = taken === 0 ? filled * 2 : 0
    return { entries, position: done }
  }

  for await (const chunk of source) {
    if (filled + chunk.length > buffer.length) {
      buffer = Buffer.concat([buffer.subarray(0, filled)], (filled + chunk.length) * 2)
    }
    filled += chunk.copy(buffer, filled)
    if (filled >= needed) yield read(false)
  }
  yield read(true)
}
