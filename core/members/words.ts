/** How a name is searched for: by words, as people type them. The service and the page share this rule. */

/** A part of a string: from its first UTF-16 unit to the one after its last. */
export type Range = readonly [from: number, to: number]

/** `×`, and what is typed or set in its place. */
const CROSS = /[×✕✖⨯]/g

/** What Unicode's decompositions and lower case leave different, although people type it alike. */
const REPLACED: { readonly [Character: string]: string } = {
  ...forEach("'", '‘’‛ʹʻʼʽ′‵´'),
  ...forEach('-', '‐‑‒–—―−⁃'),
  ...forEach('x', '×✕✖⨯'),
  ...forEach('o', 'ø'),
  ...forEach('l', 'ł'),
  ...forEach('d', 'đð'),
  ...forEach('h', 'ħ'),
  ...forEach('i', 'ı'),
  ...forEach('t', 'ŧ'),
  ...forEach('n', 'ŋ'),
  ...forEach('σ', 'ς'),
  ...forEach('ss', 'ß'),
  ...forEach('ae', 'æ'),
  ...forEach('oe', 'œ'),
  ...forEach('th', 'þ'),
}

function forEach(replacement: string, characters: string): { [character: string]: string } {
  return Object.fromEntries(Array.from(characters, (character) => [character, replacement]))
}

const BEYOND_ASCII = /[^\0-\x7f]/gu

/** Diacritics, and what has no width. */
const IGNORED = /[\p{Mn}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** How each character of the Basic Multilingual Plane is compared, once it has been found. */
const FOLDED: string[] = []

/** The same for some of the others. */
const FOLDED_OTHERS = new Map<string, string>()
const OTHERS_MAX = 10_000

function foldCharacter(character: string): string {
  const code = character.charCodeAt(0)
  if (character.length > 1) return foldOther(character)
  FOLDED[code] ??= findFolded(character)
  return FOLDED[code]
}

function foldOther(character: string): string {
  const known = FOLDED_OTHERS.get(character)
  if (known !== undefined) return known
  if (FOLDED_OTHERS.size === OTHERS_MAX) FOLDED_OTHERS.clear()
  const folded = findFolded(character)
  FOLDED_OTHERS.set(character, folded)
  return folded
}

function findFolded(character: string): string {
  // Before the decomposition, which would make a space of ´.
  const plain = REPLACED[character] ?? character.replace(/\p{White_Space}/u, ' ')
  const letters = plain.normalize('NFKD').replace(IGNORED, '').toLowerCase()
  return Array.from(letters, (letter) => REPLACED[letter] ?? letter).join('')
}

/**
 * A string as it is compared: each code point by itself, so that its parts become parts of the result. Of ASCII
 * characters it changes only the case, as `lower` does in SQL. Folding again changes nothing.
 */
export function fold(text: string): string {
  return text.replace(BEYOND_ASCII, foldCharacter).toLowerCase()
}

/** The words to search for, each once. There are none if nothing of the text would be visible. */
export function toWords(text: string): string[] {
  const words = fold(text.replace(CROSS, ' ×')).split(/\s/)
  return [...new Set(words.filter((word) => word !== ''))]
}

/** A function that tells whether a name contains each word. */
export function toWordMatch(words: readonly string[]): (name: string) => boolean {
  const wanted = words.map(formsOf)
  return (name) => {
    const folded = fold(name)
    return wanted.every(([word = '', hybrid]) => {
      return folded.includes(word) || (hybrid !== undefined && ` ${folded}`.includes(hybrid))
    })
  }
}

/** The parts of a string that one of the words matches, with the diacritics that follow. */
export function findWords(text: string, words: readonly string[]): Range[] {
  if (words.length === 0) return []
  const characters = Array.from(text, (character) => ({ character, folded: fold(character) }))
  const folded = ` ${characters.map((each) => each.folded).join('')}`
  const isFound: boolean[] = Array(folded.length).fill(false)
  for (const form of words.flatMap(formsOf)) {
    for (let at = folded.indexOf(form); at !== -1; at = folded.indexOf(form, at + 1)) {
      isFound.fill(true, at + form.search(/\S/), at + form.length)
    }
  }
  const ranges: [from: number, to: number][] = []
  let unit = 1
  let at = 0
  let isMarked = false
  for (const { character, folded } of characters) {
    const wasMarked = isMarked
    const end = unit + folded.length
    if (folded !== '') isMarked = isFound.slice(unit, end).includes(true)
    if (isMarked && !wasMarked) ranges.push([at, at])
    at += character.length
    const last = ranges.at(-1)
    if (isMarked && last) last[1] = at
    unit = end
  }
  return ranges
}

/** `xgrandiflora` also matches the name of the hybrid `Abelia × grandiflora`. */
function formsOf(word: string): readonly string[] {
  return isHybrid(word) ? [word, ` x ${word.slice(1)}`] : [word]
}

/** Whether a word can also match with a space in it. */
export function isHybrid(word: string): boolean {
  return word.length > 1 && word.startsWith('x')
}
