import { InvalidWorkbook } from './zip.ts'

const BYTES_MAX = 2 ** 26

/** What the end of a string takes. */
const END_BYTES = 16

/** A UTF-16 unit has at most three bytes in UTF-8. */
const UNIT_BYTES = 3

/** Many cells can share a string of this length, in bytes. They must not have a copy each. */
const LONG_BYTES = 2 ** 10

/** The strings that the cells of a workbook share, in UTF-8, which takes a fraction of the memory. */
export class StringTable {
  #bytes = new Uint8Array(2 ** 16)
  readonly #ends: number[] = []
  readonly #long = new Map<number, string>()
  readonly #encoder = new TextEncoder()
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  /** @throws InvalidWorkbook if all strings together are too long */
  add(text: string): void {
    const start = this.#end
    const needed = start + UNIT_BYTES * text.length
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, needed))
      larger.set(this.#bytes.subarray(0, start))
      this.#bytes = larger
    }
    const written =
      text === '' ? 0 : this.#encoder.encodeInto(text, this.#bytes.subarray(start)).written
    this.#ends.push(start + written)
    if (this.#end + END_BYTES * this.#ends.length > BYTES_MAX) {
      throw new InvalidWorkbook('the workbook has more than 64 MB of text')
    }
  }

  /** Undefined if there is no such string. */
  get(index: number): string | undefined {
    const end = this.#ends[index]
    if (end === undefined) return undefined
    const start = this.#ends[index - 1] ?? 0
    const text = this.#long.get(index) ?? this.#decoder.decode(this.#bytes.subarray(start, end))
    if (end - start >= LONG_BYTES) this.#long.set(index, text)
    return text
  }

  get #end(): number {
    return this.#ends.at(-1) ?? 0
  }
}
