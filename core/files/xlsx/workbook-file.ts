import type { Member } from '../../members/members.ts'
import { guessMapping, listColumns } from '../columns.ts'
import { findHeader, HEADER_MAX, SAMPLE_RECORDS } from '../csv-dialect.ts'
import { FileProblem } from '../file-kind.ts'
import { type FileRecord, MalformedFile } from '../file-record.ts'
import {
  type FileChoices,
  hasEscaped,
  NOTHING,
  type PlantFile,
  type RecordBatch,
  toCandidate,
  toProblem,
} from '../plant-file.ts'
import { openWorkbook, type Sheet } from './workbook-reader.ts'
import { InvalidWorkbook } from './zip.ts'

/** How many rows are read at once. */
const BATCH_ROWS = 500

/** The rows that are kept at once are no more when they have this much text, in UTF-16 units. */
const TEXT_MAX = 2 ** 20

/**
 * Recognizes what a workbook has, as `recognizeFile` does for text.
 *
 * @param members those of a plant
 * @throws FileProblem
 */
export async function recognizeWorkbook(
  file: Blob,
  members: readonly Member[],
  { sheet: chosen, header: chosenHeader }: FileChoices = {},
): Promise<PlantFile> {
  const sheets = await openWorkbook(file).catch(explain)
  const sheet = sheets.find(({ name }) => name === chosen) ?? (await findFilled(sheets))
  if (chosen !== undefined && sheet.name !== chosen) {
    throw new FileProblem(
      `This workbook has no sheet of that name. Its sheets are ${sheets.map(({ name }) => name).join(', ')}.`,
    )
  }
  const first = await take(sheet, SAMPLE_RECORDS)
  const header = chosenHeader ?? findHeader(first, members)
  const isHeader = ({ number }: FileRecord) => number === header
  const sample = first.filter(({ number }) => header === 'none' || number > header)
  const columns = listColumns(first.find(isHeader), sample)
  return {
    ...NOTHING,
    format: 'xlsx',
    header,
    candidates: first.slice(0, HEADER_MAX).map(toCandidate),
    sheets: sheets.map(({ name }) => name),
    sheet: sheet.name,
    isEscaped: sample.some(hasEscaped),
    columns,
    guess: guessMapping(members, columns, sample),
    sample,
    read: () => readBatches(sheet, header === 'none' ? 0 : header),
  }
}

/** The first sheet with rows. */
async function findFilled(sheets: readonly Sheet[]): Promise<Sheet> {
  for (const sheet of sheets) if ((await take(sheet, 1)).length > 0) return sheet
  throw new FileProblem('There are no plants in this workbook.')
}

/** The first rows that are not blank, fewer if they have much text. */
async function take(sheet: Sheet, count: number): Promise<readonly FileRecord[]> {
  const records: FileRecord[] = []
  let text = 0
  try {
    for await (const record of sheet.records()) {
      if (record.isBlank) continue
      text += textLength(record)
      if (records.push(record) === count || text >= TEXT_MAX) break
    }
  } catch (error) {
    // It is reported when the sheet is read.
    if (!(error instanceof MalformedFile)) explain(error)
  }
  return records
}

/** @param skipped the number of the header, and of the rows before it */
async function* readBatches(sheet: Sheet, skipped: number): AsyncGenerator<RecordBatch, void> {
  let endByte = 0
  let records: FileRecord[] = []
  let text = 0
  const onRead = (bytes: number) => {
    endByte = bytes
  }
  try {
    for await (const record of sheet.records(onRead)) {
      if (record.number <= skipped) continue
      text += textLength(record)
      if (records.push(record) < BATCH_ROWS && text < TEXT_MAX) continue
      yield { records, endByte }
      records = []
      text = 0
    }
    yield { records, endByte }
  } catch (error) {
    yield { records, endByte }
    if (error instanceof MalformedFile) throw toProblem('xlsx', error)
    explain(error)
  }
}

function textLength({ values }: FileRecord): number {
  return Object.values(values).reduce<number>((sum, value) => sum + String(value ?? '').length, 0)
}

function explain(error: unknown): never {
  if (!(error instanceof InvalidWorkbook)) throw error
  const { message } = error
  throw new FileProblem(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`)
}
