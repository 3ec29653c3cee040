/** Text in UTF-8 that a program has read in an older encoding. */
export interface Mojibake {
  /** What stands in the text, such as `Ã—`. */
  readonly found: string
  /** What it was, such as `×`. */
  readonly meant: string
}

/** The characters by which two encodings show the bytes 0x80 to 0xBF, which follow the first byte of a character. */
const WINDOWS = '\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'
const MAC = 'ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø'

/** Those that can follow an upper-case letter, as in `“MAÇÃ”`. */
const MARKS = '…†‡‘’“”•–—™›\xa0©ª«®°²³´·¹º»'

interface Encoding {
  /** Matches characters that seldom meet otherwise. Names such as `SÃO JOÃO` do not match. */
  readonly pattern: RegExp
  /** How the encoding shows each byte. */
  readonly shown: string
}

const BYTES = Uint8Array.from({ length: 256 }, (_, code) => code)

const ENCODINGS: readonly Encoding[] = [
  {
    pattern: new RegExp(
      [
        `[ÂÃÄÅ](?![${MARKS}])[${WINDOWS}]`,
        `(?:(?<!\\p{Lu})[ÂÃ]|(?<=\\p{Ll})[ÄÅ])[${MARKS}]`,
        `[ÂÃÄÅ][${MARKS}](?=\\p{Ll})`,
        // Greek and Cyrillic letters, of which a word has several.
        `(?:[ÎÏÐÑ][${WINDOWS}]){2}`,
        // Punctuation, the euro and symbols such as ™ and ♀.
        `â[€‚„†ˆ‰˜™œ\x80-\x9f][${WINDOWS}]`,
        `(?:[ã-é][${WINDOWS}]{2}){2}`,
        `ðŸ[${WINDOWS}]{2}`,
      ].join('|'),
      'gu',
    ),
    shown: new TextDecoder('windows-1252').decode(BYTES),
  },
  {
    pattern: new RegExp(`[√≈ƒ][${MAC}]|¬[†°¢£§•¶®©™´¨±µªº∞Ω]|‚Ä[${MAC}]`, 'gu'),
    shown: new TextDecoder('macintosh').decode(BYTES),
  },
]

/** The characters that all of them begin with, for a class of a pattern. Another character beyond ASCII follows. */
export const MOJIBAKE_START = 'ÂÃÄÅÎÏÐÑâã-éð√≈ƒ¬‚'

/** Finds the first part of a string that is UTF-8 read in Windows-1252 or in the encoding of old Macs. */
export function findMojibake(text: string): Mojibake | undefined {
  for (const { pattern, shown } of ENCODINGS) {
    for (const [found] of text.matchAll(pattern)) {
      const meant = decode(found, shown)
      if (meant !== undefined && !/\p{Cc}/u.test(meant)) return { found, meant }
    }
  }
  return undefined
}

/** Reads as UTF-8 the bytes that an encoding shows as some characters. Returns undefined if they are not valid. */
function decode(characters: string, shown: string): string | undefined {
  const bytes = Uint8Array.from(characters, (character) => {
    const code = shown.indexOf(character)
    // Some programs keep the control characters of ISO 8859-1.
    return code === -1 ? character.charCodeAt(0) : code
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
