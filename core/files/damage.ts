import { NINE, ZERO } from '../json/bytes.ts'
import type { Member } from '../members/members.ts'
import { findMojibake, MOJIBAKE_START } from './mojibake.ts'

/** A column of a file. */
export interface DamageColumn {
  /** What to call it in a sentence. */
  readonly name: string
  /** The member of a plant that it is mapped to. */
  readonly member?: Member | undefined
}

/** How programs, mostly spreadsheets, damage a value. */
type Damage =
  | 'notation'
  | 'rounded'
  | 'serial'
  | 'date'
  | 'error'
  | 'narrow'
  | 'garbled'
  | 'replaced'

/** Says what is wrong with a value. Follows the value. */
const REASONS: Readonly<Record<Damage, (text: string) => string>> = {
  notation: () =>
    'is in scientific notation: a spreadsheet has shortened it, and its other digits are lost',
  rounded: () => 'was rounded by a spreadsheet: the digits after the first 15 are lost',
  serial: (text) =>
    `is a date that a spreadsheet has turned into a number, probably ${dateOfSerial(text)}`,
  date: () => 'is a date that a spreadsheet has made of another value',
  error: () => 'is the error of a formula in a spreadsheet, not a value',
  narrow: () => 'is what a spreadsheet shows if a column is too narrow for the value',
  garbled: (text) => {
    const { found, meant } = findMojibake(text) ?? {}
    return `is garbled: ${found} was ${meant} until a program read the file in the wrong encoding`
  },
  replaced: () => 'has � in place of a character that was lost in the wrong encoding',
}

/** What is noted: damage, or a number with more digits than spreadsheets keep, which thus has not rounded any. */
type Sign = Damage | 'long'

/** The first value with a sign, and how many there are. */
interface Found {
  readonly number: number
  readonly name: string
  readonly text: string
  count: number
}

/** How much of a value is quoted. */
const QUOTED_LENGTH = 60

/** Notes the signs that a program has damaged the values of a file before. */
export class DamageNotes {
  readonly #names: readonly string[]
  readonly #finders: readonly Finder[]
  readonly #found = new Map<Sign, Found>()

  constructor(columns: readonly DamageColumn[]) {
    this.#names = columns.map(({ name }) => name)
    this.#finders = columns.map(finderOf)
  }

  /**
   * Notes the damage to a record.
   *
   * @param number that of the record
   * @param cells its text, by column
   */
  add(number: number, cells: readonly (string | undefined)[]): void {
    for (let index = 0; index < cells.length; index++) {
      const text = cells[index]
      const sign = text === undefined ? undefined : this.#finders[index]?.(text)
      if (sign === undefined) continue
      const found = this.#found.get(sign)
      if (found !== undefined) found.count += 1
      else
        this.#found.set(sign, {
          number,
          name: String(this.#names[index]),
          text: String(text),
          count: 1,
        })
    }
  }

  /**
   * A sentence for each kind of damage, with its first place and how often it occurs.
   *
   * @param noun what the numbers of records count, such as `Line`
   */
  describe(noun: string): string[] {
    const damages = Object.keys(REASONS) as Damage[]
    return damages.flatMap((damage) => {
      const found = this.#found.get(damage)
      if (found === undefined || (damage === 'rounded' && this.#found.has('long'))) return []
      const { number, name, text, count } = found
      const sentence = `${noun} ${number}: the ${name} ${quote(text)} ${REASONS[damage](text)}.`
      return count === 1 ? sentence : `${sentence} ${describeOthers(count - 1)}`
    })
  }
}

function quote(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length <= QUOTED_LENGTH ? line : `${line.slice(0, QUOTED_LENGTH).toWellFormed()}…`
}

function describeOthers(count: number): string {
  return count === 1 ? 'So is 1 other value.' : `So are ${count} other values.`
}

/** Matches all text in which findInText finds damage, and little else. One class of characters is found fastest. */
const SUSPECT = new RegExp(`[#\ufffd${MOJIBAKE_START}](?:(?<=[#\ufffd])|[^\0-\x7f])`)

/** In English, German, French and Spanish. */
const ERROR =
  /^\s*(?:#[¡¿]?(?:REF|BEZUG|VALUE|WERT|VALEUR|VALOR|NAME|NOM|NOMBRE|NULL|NUL|NULO|NUM|ZAHL|DIV\/0|SPILL|CALC)[!?]|#N\/[AD]|#NV)\s*$/

function findInText(text: string): Sign | undefined {
  if (!SUSPECT.test(text)) return undefined
  if (ERROR.test(text)) return 'error'
  if (/^\s*#{3,}\s*$/.test(text)) return 'narrow'
  if (text.includes('\ufffd')) return 'replaced'
  return findMojibake(text) && 'garbled'
}

/** A number as spreadsheets write those of 12 digits and more. */
const NOTATION = /^\s*-?\d(?:[.,]\d+)?E\+\d\d+\s*$/i

/** 15 digits and zeros. */
const ROUNDED = /^\s*-?[1-9]\d{13}[1-9]0+\s*$/

const LONG_NUMBER = /^\s*-?[1-9]\d{15,}\s*$/

/** Spreadsheets write integers with more digits in scientific notation. */
const SHORT_LENGTH = 11

const MONTH = '(?:Jan|Feb|Mar|Mär|Mrz|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)'

/** A day and a month, or a month and a year, as spreadsheets write them in English and German. */
const DATE = new RegExp(`^(?:\\d{1,2}(?:-|\\. ?)${MONTH}|${MONTH}[- ]\\d\\d)$`)

/** The days from 1954 to 2064. */
const SERIAL = /^\s*(?:[2-5]\d{4}|60000)(?:[.,]\d+)?\s*$/

/** The name of a column that identifies plants, such as `plant_name_id`, `taxonID` or `Accession Number`. */
const KEY =
  /(?:^|[^\p{L}])(?:ids?|keys?|code|symbol|accession|barcode|number|no|nr)(?:$|[^\p{L}])/iu
const KEY_IN_CAMEL_CASE = /\p{Ll}(?:ID|Id|Key|Code|Number)$/u

/** Finds damage to the values of a column. */
type Finder = (text: string) => Sign | undefined

function finderOf({ name, member }: DamageColumn): Finder {
  const format = member?.schema?.format
  if (format === 'date' || format === 'date-time')
    return (text) => (SERIAL.test(text) ? 'serial' : findInText(text))
  if (member?.type === 'int64') return findInKey
  if (member !== undefined && member.type !== 'string') return findInNumber
  if (KEY.test(name) || KEY_IN_CAMEL_CASE.test(name)) return findInKey
  return member?.name === 'name' ? (text) => findDate(text) ?? findInText(text) : findInText
}

function findInNumber(text: string): Sign | undefined {
  return Number.isNaN(Number(text)) ? findInText(text) : undefined
}

function findInKey(text: string): Sign | undefined {
  if (isShortNumber(text)) return undefined
  if (NOTATION.test(text)) return 'notation'
  if (ROUNDED.test(text)) return 'rounded'
  if (LONG_NUMBER.test(text)) return 'long'
  return findDate(text) ?? findInText(text)
}

/** Faster than a regular expression. */
function isShortNumber(text: string): boolean {
  if (text.length > SHORT_LENGTH) return false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < ZERO || code > NINE) return false
  }
  return true
}

function findDate(text: string): Sign | undefined {
  return text.length < 10 && DATE.test(text) ? 'date' : undefined
}

/** The day that a spreadsheet numbers like this, unless it counts from 1904. */
function dateOfSerial(text: string): string {
  const days = Math.trunc(Number(text.trim().replace(',', '.')))
  return new Date(Date.UTC(1899, 11, 30 + days)).toISOString().slice(0, 10)
}
