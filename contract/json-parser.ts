import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from './bytes.ts'
import { JsonScanner } from './json-scanner.ts'
import { findMember, type Member, type Projection } from './projection.ts'

/** Enough for any plant, and far less than the depth at which recursion overflows the stack. */
const MAX_DEPTH = 64

/** The items of an array that is built completely or not at all. */
const EVERY = {
  all: { items: 'all', itemsMax: Number.POSITIVE_INFINITY },
  none: { items: 'none', itemsMax: 0 },
} as const

type Members = { [name: string]: unknown }

type Property = Pick<Member, 'name' | 'projection'>

/**
 * Parses UTF-8 JSON in linear time and builds only the parts in a projection. If a member is repeated, the
 * last value wins, as with `JSON.parse`. Numbers keep their exact value (see `exactNumber`).
 */
export class JsonParser extends JsonScanner {
  /** @throws InvalidJson */
  parse(projection: Projection): unknown {
    this.skipSpace()
    const value = this.#value(projection, 0)
    this.skipSpace()
    if (this.at < this.bytes.length) this.failExpecting('the end of input')
    return value
  }

  /** The value, or undefined if it is not in the projection. */
  #value(projection: Projection, depth: number): unknown {
    switch (this.byteAt(this.at)) {
      case QUOTE:
        return this.string(projection)
      case OPENING_BRACE:
        return this.#object(projection, depth + 1)
      case OPENING_BRACKET:
        return this.#array(projection, depth + 1)
      case LOWER_T:
        return this.literal('true', true)
      case LOWER_F:
        return this.literal('false', false)
      case LOWER_N:
        return this.literal('null', null)
      default:
        return this.number(projection)
    }
  }

  #object(projection: Projection, depth: number): object | undefined {
    const object: Members | undefined = projection === 'none' ? undefined : {}
    let repeated: Map<Property, number> | undefined
    if (this.#enter(CLOSING_BRACE, depth)) return object
    do {
      if (this.byteAt(this.at) !== QUOTE) this.failExpecting('a member name in double quotes')
      const start = this.at
      const escaped = this.skipString()
      const member = this.#member(projection, start, escaped)
      this.skipSpace()
      if (this.byteAt(this.at) !== COLON) this.failExpecting("':'")
      this.at++
      this.skipSpace()
      if (object === undefined || member === undefined) {
        this.#value('none', depth)
      } else if (projection === 'all' || object[member.name] === undefined) {
        setMember(object, member.name, this.#value(member.projection, depth))
      } else {
        // Only the last repetition is built, because a hostile body can have a hundred thousand.
        repeated ??= new Map()
        repeated.set(member, this.at)
        this.#value('none', depth)
      }
    } while (this.#next(CLOSING_BRACE, "',' or '}'"))
    if (repeated !== undefined) this.#parseAgain(object as Members, repeated, depth)
    return object
  }

  /** Parses the members whose values start at the given positions, then restores the position. */
  #parseAgain(object: Members, starts: ReadonlyMap<Property, number>, depth: number): void {
    const { at } = this
    for (const [{ name, projection }, start] of starts) {
      this.at = start
      setMember(object, name, this.#value(projection, depth))
    }
    this.at = at
  }

  #array(projection: Projection, depth: number): unknown[] | undefined {
    const array: unknown[] | undefined = projection === 'none' ? undefined : []
    if (this.#enter(CLOSING_BRACKET, depth)) return array
    const { items, itemsMax } = typeof projection === 'string' ? EVERY[projection] : projection
    do {
      if (array !== undefined && items !== 'none' && array.length < itemsMax) {
        array.push(this.#value(items, depth))
      } else {
        this.#value('none', depth)
      }
    } while (this.#next(CLOSING_BRACKET, "',' or ']'"))
    return array
  }

  /** The member whose quoted name was just scanned; undefined if it is not in the projection. */
  #member(projection: Projection, start: number, escaped: boolean): Property | undefined {
    if (projection === 'none') return undefined
    if (projection !== 'all' && !escaped) {
      return findMember(projection, this.bytes, start + 1, this.at - 1)
    }
    const name = this.stringFrom(start, escaped)
    return projection === 'all'
      ? { name, projection }
      : projection.members.find((member) => member.name === name)
  }

  /** Enters an array or object. If it is empty, leaves it again and returns true. */
  #enter(closing: number, depth: number): boolean {
    if (depth > MAX_DEPTH) this.fail(`is nested deeper than ${MAX_DEPTH} levels`)
    this.at++
    this.skipSpace()
    if (this.byteAt(this.at) !== closing) return false
    this.at++
    return true
  }

  /** Moves to the next member or item. If there is none, leaves the array or object and returns false. */
  #next(closing: number, expected: string): boolean {
    this.skipSpace()
    const byte = this.byteAt(this.at)
    if (byte !== COMMA && byte !== closing) this.failExpecting(expected)
    this.at++
    if (byte === closing) return false
    this.skipSpace()
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
