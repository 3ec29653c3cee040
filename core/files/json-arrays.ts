/** An array of objects within a JSON object, such as the plants in `{"meta": {}, "plants": [{}]}`. */
export interface NestedArray {
  /** The names of the members that lead to it, such as `data.plants`. */
  readonly path: string
  /** The index of its bracket in the text. */
  readonly start: number
}

/** Arrays that are deeper belong to a record rather than to a list. */
const DEPTH_MAX = 4

const ARRAYS_MAX = 20

/**
 * Finds the arrays of objects in a JSON object, those without items only if there are no others.
 *
 * @param text the start of a file
 */
export function findArrays(text: string): readonly NestedArray[] {
  const found: NestedArray[] = []
  const empty: NestedArray[] = []
  /** The names of the current members of the objects that are open. */
  const path: string[] = []
  /** Objects and arrays that are open. */
  let depth = 0
  /** How many are open around the first array that is open. */
  let outside = Number.POSITIVE_INFINITY
  let name = ''
  for (let at = 0; at < text.length && found.length < ARRAYS_MAX; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      name = text.slice(at + 1, end)
      at = end
    } else if (character === ':' && depth <= DEPTH_MAX) path[depth - 1] = name
    else if (character === '{' || character === '[') {
      const isList = character === '[' && depth > 0 && depth <= DEPTH_MAX && outside > depth
      const next = isList ? nextCharacter(text, at + 1) : undefined
      const array = { path: path.slice(0, depth).join('.'), start: at }
      if (next === '{') found.push(array)
      else if (next === ']') empty.push(array)
      if (character === '[') outside = Math.min(outside, depth)
      depth += 1
    } else if (character === '}' || character === ']') {
      depth -= 1
      if (depth <= outside) outside = Number.POSITIVE_INFINITY
    }
  }
  return found.length > 0 ? found : empty
}

/** The first character that is not whitespace. */
function nextCharacter(text: string, from: number): string | undefined {
  const pattern = /\S/g
  pattern.lastIndex = from
  return pattern.exec(text)?.[0]
}

/** The index of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at
  }
  return text.length
}
