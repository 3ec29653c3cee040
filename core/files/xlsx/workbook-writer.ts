import type { components } from '../../generated/api.gen.ts'
import { SAFE_LENGTH } from '../../json/int64.ts'
import { type Member, type MemberValue, ownValue, writeText } from '../../members/members.ts'
import { ExportProblem } from '../record-formats.ts'
import { columnName, EMPTY_FORMULA, ROWS_MAX } from './sheet.ts'
import { writeZip } from './zip-writer.ts'

type StoredPlant = components['schemas']['StoredPlant']

/** The number of UTF-16 units in a cell of Excel. */
const CELL_LENGTH_MAX = 32_767

/**
 * Writes plants as a workbook with one sheet, from which the same plants are read. Strings, and integers that a spreadsheet
 * would round, are text, also once they are edited: a spreadsheet changes none to a number, a date or a formula.
 *
 * @throws ExportProblem, and what `batches` throws
 */
export function writeWorkbook(
  members: readonly Member[],
  batches: AsyncIterable<readonly StoredPlant[]>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  return writeZip([
    ...Object.entries(FIXED_PARTS).map(([path, xml]) => ({ path, content: [XML + xml] })),
    { path: 'xl/worksheets/sheet1.xml', content: writeSheet(members, batches) },
  ])
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const MEDIA = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** The style of cells for text. */
const TEXT = 's="1"'

/** Style 1 has the built-in number format 49, `@`. */
const FIXED_PARTS = {
  '[Content_Types].xml':
    `<Types xmlns="${PACKAGE}/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${MEDIA}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${MEDIA}.styles+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${MEDIA}.worksheet+xml"/></Types>`,
  '_rels/.rels':
    `<Relationships xmlns="${PACKAGE}/relationships">` +
    `<Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml':
    `<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}">` +
    '<sheets><sheet name="plants" sheetId="1" r:id="rId1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    `<Relationships xmlns="${PACKAGE}/relationships">` +
    `<Relationship Id="rId1" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml':
    `<styleSheet xmlns="${MAIN}"><fonts count="1"><font/></fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>' +
    '<cellXfs count="2"><xf/><xf numFmtId="49" applyNumberFormat="1"/></cellXfs></styleSheet>',
} as const

async function* writeSheet(
  members: readonly Member[],
  batches: AsyncIterable<readonly StoredPlant[]>,
): AsyncGenerator<string, void> {
  const columns = members.map(({ name }, index) => ({ name, letters: columnName(index) }))
  const styles = members.map(
    ({ type }, index) =>
      `<col min="${index + 1}" max="${index + 1}" width="${type === 'string' ? 40 : 20}"${type === 'string' ? ' style="1"' : ''}/>`,
  )
  const header = columns.map(({ name, letters }) => writeCell(`${letters}1`, name))
  yield `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
    `<cols>${styles.join('')}</cols><sheetData><row r="1">${header.join('')}</row>`
  let row = 1
  const writeRow = (plant: StoredPlant) => {
    row += 1
    const cells = columns.map(({ name, letters }) => {
      const value = (ownValue(plant, name) ?? undefined) as MemberValue | undefined
      if (value === undefined) return ''
      assertCellLength(value, name, plant)
      return writeCell(`${letters}${row}`, value)
    })
    return `<row r="${row}">${cells.join('')}</row>`
  }
  for await (const plants of batches) {
    if (row + plants.length > ROWS_MAX) {
      throw new ExportProblem(
        `a sheet has room for ${(ROWS_MAX - 1).toLocaleString('en')} plants; export them as CSV or NDJSON`,
      )
    }
    yield plants.map(writeRow).join('')
  }
  yield '</sheetData></worksheet>'
}

function assertCellLength(value: MemberValue, name: string, { id }: StoredPlant): void {
  if (typeof value !== 'string' || value.length <= CELL_LENGTH_MAX) return
  throw new ExportProblem(
    `the ${name} of plant ${id} is longer than the ${CELL_LENGTH_MAX.toLocaleString('en')} characters of a cell; export the plants as CSV or NDJSON`,
  )
}

function writeCell(reference: string, value: MemberValue): string {
  const text = writeText(value)
  if (typeof value === 'boolean') return `<c r="${reference}" t="b"><v>${Number(value)}</v></c>`
  if (typeof value === 'number' || (typeof value === 'bigint' && text.length <= SAFE_LENGTH)) {
    return `<c r="${reference}"><v>${text}</v></c>`
  }
  if (text === '') return `<c r="${reference}" t="str"><f>${EMPTY_FORMULA}</f><v></v></c>`
  return `<c r="${reference}" ${TEXT} t="inlineStr"><is><t xml:space="preserve">${escapeText(text)}</t></is></c>`
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
}

/** Characters that XML does not allow or changes are escaped as in `decodeEscapes`, and so is text like an escape. */
function escapeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow them.
  return text.replace(/[&<>\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[\dA-Fa-f]{4}_)/g, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    return ENTITIES[character] ?? `_x${code}_`
  })
}
