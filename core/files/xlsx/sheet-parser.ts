import {
  COLUMNS_MAX,
  type FileRecord,
  MalformedFile,
  RECORD_LENGTH_MAX,
  TOO_LONG,
} from '../file-record.ts'
import { type CellFormat, numberText } from './cell-formats.ts'
import { columnName, EMPTY_FORMULA, ROWS_MAX } from './sheet.ts'
import type { StringTable } from './string-table.ts'
import { type Attributes, type XmlHandler, XmlReader } from './xml-reader.ts'
import { InvalidWorkbook } from './zip.ts'

/** It bounds the time that a sheet takes. */
const CELLS_MAX = 5_000_000

const REFERENCE = /^([A-Z]{1,3})[1-9]\d{0,6}$/

/** What the cells of a workbook refer to. */
export interface WorkbookTables {
  readonly strings: StringTable
  readonly formats: readonly CellFormat[]
  readonly is1904: boolean
}

interface Cell {
  readonly column: number
  readonly type: string
  readonly style: number
  /** Undefined if the cell has no value. */
  text?: string
  formula?: string
}

/** Parses the XML of a sheet (ECMA-376 part 1 §18.3) as it arrives. */
export class SheetParser implements XmlHandler {
  readonly #tables: WorkbookTables
  readonly #xml: XmlReader
  /** Those that `write` has completed. */
  #records: FileRecord[] = []
  #cells = 0
  /** That of the last row. */
  #row = 0
  #fields: (string | undefined)[] = []
  #length = 0
  #problem: string | undefined
  #cell: Cell | undefined
  /** What text belongs to. */
  #part: 'text' | 'formula' | undefined
  #isPhonetic = false
  #isComplete = false

  constructor(tables: WorkbookTables) {
    this.#tables = tables
    this.#xml = new XmlReader(this)
  }

  /** Whether all rows are read. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /**
   * Parses the next part of the sheet.
   *
   * @throws InvalidWorkbook or MalformedFile after the records before the fault
   */
  *write(xml: string): Generator<FileRecord, void> {
    this.#records = []
    try {
      this.#xml.write(xml)
    } finally {
      yield* this.#records
    }
  }

  end(): void {
    this.#xml.end()
  }

  readonly open = (name: string, attributes: Attributes): void => {
    if (name === 'row') this.#startRow(attributes)
    else if (name === 'c') this.#startCell(attributes)
    else if (name === 'rPh') this.#isPhonetic = true
    else if (name === 'f') this.#startPart('formula')
    else if (name === 'v' || (name === 't' && !this.#isPhonetic)) this.#startPart('text')
  }

  readonly text = (text: string): void => {
    if (this.#cell !== undefined && this.#part !== undefined) this.#cell[this.#part] += text
  }

  readonly close = (name: string): void => {
    this.#part = undefined
    if (name === 'row') this.#endRow()
    else if (name === 'c') this.#endCell()
    else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'sheetData') this.#complete()
  }

  #complete(): void {
    this.#isComplete = true
    this.#xml.stop()
  }

  #startRow(attributes: Attributes): void {
    const row = Number(attributes('r') ?? this.#row + 1)
    if (!Number.isInteger(row) || row <= this.#row || row > ROWS_MAX) {
      throw new MalformedFile(this.#row, 'the row after this one has an invalid number')
    }
    this.#row = row
    this.#fields = []
    this.#length = 0
    this.#problem = undefined
  }

  #endRow(): void {
    const problem = this.#problem
    const isBlank = problem === undefined && this.#fields.every((field) => field === undefined)
    this.#records.push({
      number: this.#row,
      values: { ...this.#fields },
      ...(problem !== undefined && { problem }),
      ...(isBlank && { isBlank }),
    })
  }

  #startCell(attributes: Attributes): void {
    const reference = attributes('r')
    const column = reference === undefined ? this.#fields.length : columnOf(reference)
    if (column === undefined || column >= COLUMNS_MAX) {
      throw new MalformedFile(this.#row, 'a cell has an invalid reference')
    }
    // Cells without a value too, because all fields of a row take time.
    this.#cells += Math.max(column + 1 - this.#fields.length, 1)
    if (this.#cells > CELLS_MAX) {
      throw new InvalidWorkbook(`the sheet has more than ${CELLS_MAX.toLocaleString('en')} cells`)
    }
    while (this.#fields.length <= column) this.#fields.push(undefined)
    const type = attributes('t') ?? 'n'
    this.#cell = { column, type, style: Number(attributes('s') ?? 0) }
  }

  #startPart(part: 'text' | 'formula'): void {
    if (this.#cell === undefined) return
    this.#part = part
    this.#cell[part] ??= ''
  }

  #endCell(): void {
    const cell = this.#cell
    this.#cell = undefined
    if (cell === undefined) return
    const text = this.#textOf(cell)
    this.#fields[cell.column] = text
    this.#length += text?.length ?? 0
    if (this.#length > RECORD_LENGTH_MAX) throw new MalformedFile(this.#row, TOO_LONG)
  }

  #textOf({ column, type, style, text, formula }: Cell): string | undefined {
    const refuse = (what: string) => {
      this.#problem ??= `cell ${columnName(column)}${this.#row} ${what}`
      return undefined
    }
    if (text === undefined) {
      return formula === undefined ? undefined : refuse('has a formula without a result')
    }
    switch (type) {
      case 's':
        return this.#tables.strings.get(Number(text)) ?? refuse('refers to a missing string')
      case 'inlineStr':
        return decodeEscapes(text)
      case 'str':
        // Other formulas give an empty string for no value.
        return text === '' && formula !== EMPTY_FORMULA ? undefined : decodeEscapes(text)
      case 'e':
        return refuse(`has the error ${text}`)
      case 'b':
        return text === '1' || text === 'true' ? 'true' : 'false'
      case 'd':
        return /T\d[\d:.]*$/.test(text) ? `${text}Z` : text
      default:
        if (text === '') return undefined
        if (!/^-?[\d.]+(?:[Ee][+-]?\d+)?$/.test(text) || !Number.isFinite(Number(text))) {
          return refuse('has an invalid number')
        }
        return numberText(text, this.#tables.formats[style] ?? 'number', this.#tables.is1904)
    }
  }
}

function columnOf(reference: string): number | undefined {
  const [, letters] = REFERENCE.exec(reference) ?? []
  if (letters === undefined) return undefined
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

/** Characters that XML does not allow (ECMA-376 part 1 §22.9.2.19). */
export function decodeEscapes(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}
