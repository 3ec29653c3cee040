import type { components } from '../generated/api.gen.ts'
import { members } from '../members/members.gen.ts'
import type { Member } from '../members/members.ts'
import { describePlants } from '../members/plant.ts'
import type { Format } from './formats.ts'

type StoredPlant = components['schemas']['StoredPlant']

/** A format of text that plants can be exported to. */
export type TextFormat = Exclude<Format, 'json' | 'xlsx'>

/** A format that plants can be exported to. */
export type ExportFormat = TextFormat | 'xlsx'

/** Plants cannot be written in a format. The message is a sentence without its capital letter and period. */
export class ExportProblem extends Error {}

export interface RecordFormat {
  /** Precedes the records; empty if the format has no header. */
  readonly header: string
  /** Formats a plant as one record, including its newline, which the reader of the format reads back exactly. */
  readonly line: (plant: StoredPlant) => string
}

/** How plants with some members are written. */
export interface PlantRecords {
  /** The columns of a CSV file, without a line break. */
  readonly csvHeader: string
  readonly recordFormats: { readonly [Each in TextFormat]: RecordFormat }
  /** Formats a plant as a line of CSV for spreadsheets: see `escapeFormulas`. */
  readonly formulaFreeLine: RecordFormat['line']
}

/** How plants with some members are written. */
export function describeRecords(members: readonly Member[]): PlantRecords {
  const { plantJson, toFields } = describePlants(members)
  const names = members.map(({ name }) => name)
  const header = csvRecord(names)
  return {
    csvHeader: header.trimEnd(),
    recordFormats: {
      ndjson: { header: '', line: (plant) => `${plantJson(plant)}\n` },
      csv: { header, line: (plant) => csvRecord(toFields(plant)) },
    },
    // A negative number stays one. It is harmless because all text is quoted; otherwise `-1,5+…` could be a formula in
    // locales whose decimal mark is a comma.
    formulaFreeLine(plant) {
      const fields = toFields(plant).map((text, index) => {
        if (text === undefined) return ''
        return members[index]?.type === 'string' ? escapeFormulas(text) : text
      })
      return `${fields.join()}\n`
    },
  }
}

/**
 * A record of CSV, including its newline. An undefined field is empty, and an empty one is a pair of quotes. The first
 * field of a record with several lines has quotes, so that CsvReader does not take its lines for records.
 */
export function csvRecord(fields: readonly (string | undefined)[]): string {
  const record = fields.map((text) => (text === undefined ? '' : toField(text))).join()
  return `${record.includes('\n') ? record.replace(/^[^",]+/, '"$&"') : record}\n`
}

function toField(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * A character that makes a cell a formula, after whitespace that a spreadsheet may trim. The last four are full-width
 * forms. OWASP also lists tabs and line breaks, because spreadsheets trim them.
 */
const AT_START = /^(?:[^\S\t\r\n]*[=+\-@＝＋－＠]|[\t\r\n])/

/**
 * The same characters within text, after a character that ends a cell. In locales whose decimal mark is a comma, Excel
 * splits lines at semicolons. Each line starts with an unquoted id, so Excel ignores the quotes after it and splits text
 * too.
 */
const WITHIN = /([;\t\r\n](?:[^\S\t\r\n]|")*)([=+\-@＝＋－＠])/g

/**
 * Quotes text for spreadsheets. An apostrophe precedes anything that could become a formula, which would run with the
 * rights of the person who opens the file (https://owasp.org/www-community/attacks/CSV_Injection). The original text
 * cannot be recovered.
 */
function escapeFormulas(text: string): string {
  const harmless = text.replace(AT_START, "'$&").replace(WITHIN, "$1'$2")
  return `"${harmless.replaceAll('"', '""')}"`
}

/** For plants without own fields. */
export const { csvHeader: CSV_HEADER, recordFormats, formulaFreeLine } = describeRecords(members)
