import type { Member } from '../../core/members/members.ts'
import { escapeControlCharacters } from '../system/control-characters.ts'

const LIST = new Intl.ListFormat('en-GB')

/** The names of some members, such as `id, name and tag`. */
export function listNames(members: readonly Member[]): string {
  return LIST.format(members.map(({ name }) => name))
}

/** How many names are remembered and shown. A file can have millions. */
export const NAMES_MAX = 20

const QUOTED_LENGTH_MAX = 40

/** Quotes a name from a file, and suggests the member that was probably meant. */
export function describeUnknown(name: string, members: readonly Member[]): string {
  const meant = findMeant(name, members)
  return meant === undefined || meant === name
    ? quote(name)
    : `${quote(name)} (did you mean "${meant}"?)`
}

/** Finds the member that has the same letters as a name, in any case and order, except for at most one. */
function findMeant(name: string, members: readonly Member[]): string | undefined {
  const lower = name.trim().toLowerCase()
  return members
    .map((member) => member.name)
    .find((known) => {
      const others = [...known.toLowerCase()].reduce(
        (rest, letter) => rest.replace(letter, ''),
        lower,
      )
      return others.length <= 1 && lower.length - others.length >= known.length - 1
    })
}

/**
 * Quotes the start of a string from a file.
 *
 * @param lengthMax how much of it, in UTF-16 units
 */
export function quote(text: string, lengthMax = QUOTED_LENGTH_MAX): string {
  const start = JSON.stringify(text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text)
  return escapeControlCharacters(start)
}

/** Counts members of JSON records that are not stored. */
export class IgnoredMembers {
  readonly #members: readonly Member[]
  readonly #counts = new Map<string, number>()
  #total = 0
  #hasOthers = false

  /** @param members those of a plant */
  constructor(members: readonly Member[]) {
    this.#members = members
  }

  add(names: readonly string[]): void {
    this.#total += names.length
    for (const name of names) {
      const count = this.#counts.get(name) ?? 0
      if (count === 0 && this.#counts.size === NAMES_MAX) this.#hasOthers = true
      else this.#counts.set(name, count + 1)
    }
  }

  /** A line for the summary of an import, or an empty string if there were none. */
  summary(): string {
    if (this.#total === 0) return ''
    const named = [...this.#counts].map(
      ([name, count]) => `${count} × ${describeUnknown(name, this.#members)}`,
    )
    const more = this.#hasOthers ? ', and others' : ''
    return `ignored ${this.#total} (properties that are not stored: ${named.join(', ')}${more})\n`
  }
}
