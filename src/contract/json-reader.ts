import { JsonScanner } from './json-scanner.ts'
import { type Member, memberNamed, type Shape } from './shape.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const LOWER_F = 0x66
const LOWER_N = 0x6e
const LOWER_T = 0x74
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** Deep enough for any plant, and far below the depth at which recursion overflows the stack. */
const MAX_DEPTH = 64

type Members = { [name: string]: unknown }

type Property = Pick<Member, 'name' | 'shape'>

/**
 * Reads UTF-8 JSON in linear time. If a member is repeated, the last value wins, as with `JSON.parse`. Numbers
 * keep their exact value (see `exactNumber`).
 */
export class JsonReader extends JsonScanner {
  /** @throws InvalidJson */
  read(shape: Shape): unknown {
    this.space()
    const value = this.#value(shape, 0)
    this.space()
    if (this.at < this.bytes.length) this.expected('the end of input')
    return value
  }

  /** The value, or undefined if it is not read. */
  #value(shape: Shape, depth: number): unknown {
    switch (this.byteAt(this.at)) {
      case QUOTE:
        return this.string(shape)
      case OPENING_BRACE:
        return this.#object(shape, depth + 1)
      case OPENING_BRACKET:
        return this.#array(shape, depth + 1)
      case LOWER_T:
        return this.literal('true', true)
      case LOWER_F:
        return this.literal('false', false)
      case LOWER_N:
        return this.literal('null', null)
      default:
        return this.number(shape)
    }
  }

  #object(shape: Shape, depth: number): object | undefined {
    const object: Members | undefined = shape === 'none' ? undefined : {}
    let repeated: Map<Property, number> | undefined
    if (this.#opens(CLOSING_BRACE, depth)) return object
    do {
      if (this.byteAt(this.at) !== QUOTE) this.expected('a member name in double quotes')
      const start = this.at
      const escaped = this.endString()
      const member = this.#member(shape, start, escaped)
      this.space()
      if (this.byteAt(this.at) !== COLON) this.expected("':'")
      this.at++
      this.space()
      if (object === undefined || member === undefined) {
        this.#value('none', depth)
      } else if (shape === 'all' || object[member.name] === undefined) {
        setMember(object, member.name, this.#value(member.shape, depth))
      } else {
        // Only the last value counts. There may be a hundred thousand repetitions, so read it at the end.
        repeated ??= new Map()
        repeated.set(member, this.at)
        this.#value('none', depth)
      }
    } while (this.#continues(CLOSING_BRACE, "',' or '}'"))
    if (repeated !== undefined) this.#readAgain(object as Members, repeated, depth)
    return object
  }

  /** Reads members whose values start at the given positions, then restores the current position. */
  #readAgain(object: Members, starts: ReadonlyMap<Property, number>, depth: number): void {
    const { at } = this
    for (const [{ name, shape }, start] of starts) {
      this.at = start
      setMember(object, name, this.#value(shape, depth))
    }
    this.at = at
  }

  #array(shape: Shape, depth: number): unknown[] | undefined {
    const array: unknown[] | undefined = shape === 'none' ? undefined : []
    if (this.#opens(CLOSING_BRACKET, depth)) return array
    const items = typeof shape === 'string' ? shape : shape.items
    do {
      const value = this.#value(items, depth)
      if (array !== undefined && items !== 'none') array.push(value)
    } while (this.#continues(CLOSING_BRACKET, "',' or ']'"))
    return array
  }

  /** The member whose quoted name was just scanned; undefined if it is not read. */
  #member(shape: Shape, start: number, escaped: boolean): Property | undefined {
    if (shape === 'none') return undefined
    if (shape !== 'all' && !escaped) return memberNamed(shape, this.bytes, start + 1, this.at - 1)
    const name = this.textFrom(start, escaped)
    return shape === 'all' ? { name, shape } : shape.members.find((member) => member.name === name)
  }

  /** Enters an array or object. Returns true, having left it again, if it is empty. */
  #opens(closing: number, depth: number): boolean {
    if (depth > MAX_DEPTH) this.refuse(`is nested deeper than ${MAX_DEPTH} levels`)
    this.at++
    this.space()
    if (this.byteAt(this.at) !== closing) return false
    this.at++
    return true
  }

  /** Returns whether another member or item follows; if none does, leaves the array or object. */
  #continues(closing: number, expected: string): boolean {
    this.space()
    const byte = this.byteAt(this.at)
    if (byte !== COMMA && byte !== closing) this.expected(expected)
    this.at++
    if (byte === closing) return false
    this.space()
    return true
  }
}

function setMember(object: Members, name: string, value: unknown): void {
  if (name === '__proto__') {
    // An assignment would set the prototype.
    Object.defineProperty(object, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  } else {
    object[name] = value
  }
}
