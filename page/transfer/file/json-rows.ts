import { toInt64 } from '../../../contract/int64.ts'
import { FileProblem, RECORD_LENGTH_MAX, type Row } from './rows.ts'

/**
 * Reads newline-delimited JSON (https://github.com/ndjson/ndjson-spec). Skips blank lines.
 *
 * @throws FileProblem after the rows before a line that is too long
 */
export async function* readNdjson(chunks: AsyncIterable<string>): AsyncGenerator<Row, void> {
  let text = ''
  let number = 0
  function* take(lines: readonly string[]): Generator<Row, void> {
    for (const line of lines) {
      number += 1
      if (line.trim() !== '') yield parseRow(number, line)
    }
  }
  for await (const chunk of chunks) {
    const lines = (text + chunk).split('\n')
    text = lines.pop() as string
    yield* take(lines)
    if (text.length > RECORD_LENGTH_MAX) throw new FileProblem(`Line ${number + 1} is too long.`)
  }
  yield* take([text])
}

/**
 * Reads the items of a JSON array one by one, so that a large one needs little memory.
 *
 * @throws FileProblem after the items before the first one that is not valid JSON
 */
export async function* readJsonArray(chunks: AsyncIterable<string>): AsyncGenerator<Row, void> {
  const splitter = new ArraySplitter()
  let number = 0
  for await (const chunk of chunks) {
    for (const item of splitter.split(chunk)) {
      number += 1
      const row = parseRow(number, item)
      if (row.problem === NOT_JSON) {
        throw new FileProblem(
          `Item ${number} is not valid JSON. The file cannot be read from there.`,
        )
      }
      yield row
    }
    if (splitter.length > RECORD_LENGTH_MAX) {
      throw new FileProblem(`Item ${number + 1} is too long.`)
    }
  }
  if (!splitter.isComplete) {
    throw new FileProblem('The file is incomplete, or something follows its JSON array.')
  }
}

/** Splits a JSON array into its items, without checking that they are JSON. */
class ArraySplitter {
  /** The item that has not ended yet or, after the array, what follows. */
  #text = ''
  #at = 0
  /** Arrays and objects that are open. */
  #depth = 0
  #isInString = false
  #isFirst = true
  #hasEnded = false

  get length(): number {
    return this.#text.length
  }

  /** Whether the array has ended, and nothing follows. */
  get isComplete(): boolean {
    return this.#hasEnded && this.#text.trim() === ''
  }

  /** Yields the items that end within a chunk. */
  *split(chunk: string): Generator<string, void> {
    this.#text += chunk
    const text = this.#text
    let start = 0
    let at = this.#at
    while (!this.#hasEnded) {
      const special = this.#isInString ? IN_STRING : OUTSIDE
      special.lastIndex = at
      const index = special.exec(text)?.index
      // A backslash can be the last character, so the next one to look at can follow in another chunk.
      at = index === undefined ? Math.max(at, text.length) : index + 1
      if (index === undefined) break
      const character = text[index] as string
      if (character === '\\') {
        at += 1
      } else if (character === '"') {
        this.#isInString = !this.#isInString
      } else if ('[{'.includes(character)) {
        this.#depth += 1
        if (this.#depth === 1) start = at
      } else if (character !== ',') {
        this.#depth -= 1
        this.#hasEnded = this.#depth === 0
      }
      const isEnd = this.#hasEnded || (character === ',' && this.#depth === 1)
      if (!isEnd) continue
      // A brace cannot end the array, and makes the item invalid.
      const item = text.slice(start, character === '}' ? at : index)
      const isEmptyArray = this.#hasEnded && this.#isFirst && item.trim() === ''
      if (!isEmptyArray) yield item
      this.#isFirst = false
      start = at
    }
    this.#text = text.slice(start)
    this.#at = at - start
  }
}

/** Characters with a meaning within a string. */
const IN_STRING = /["\\]/g

/** Characters with a meaning outside strings. */
const OUTSIDE = /["[\]{},]/g

const NOT_JSON = 'The record is not valid JSON'

/** TypeScript does not declare the parameter `context` yet. */
type Context = { readonly source?: string }

function parseRow(number: number, json: string): Row {
  let record: unknown
  try {
    record = JSON.parse(json, toExact)
  } catch {
    return { number, values: {}, problem: NOT_JSON }
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return { number, values: {}, problem: 'The record is not an object in braces' }
  }
  return { number, values: record as Row['values'] }
}

/** Makes integers exact, whatever the name of the member. The client's `parseJson` does so for `id` only. */
function toExact(_name: string, value: unknown, context?: Context): unknown {
  return typeof value === 'number' ? (toInt64(String(context?.source)) ?? value) : value
}
