import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { FileRecord } from '../../../../core/files/file-record.ts'
import { openWorkbook } from '../../../../core/files/xlsx/workbook-reader.ts'
import { writeWorkbook } from '../../../../core/files/xlsx/workbook-writer.ts'
import type { components } from '../../../../core/generated/api.gen.ts'
import { known } from '../../../../core/known.ts'
import type { Member } from '../../../../core/members/members.ts'

type StoredPlant = components['schemas']['StoredPlant']

const TYPES = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Relationships from a part of a workbook to others, by type. */
export function relationships(...targets: readonly (readonly [type: string, target: string])[]) {
  const elements = targets.map(
    ([type, target], index) =>
      `<Relationship Id="r${index}" Type="${TYPES}/${type}" Target="${target}"/>`,
  )
  return `<Relationships>${elements.join('')}</Relationships>`
}

/** The parts of a workbook with one sheet. */
export function partsOf(rows: string) {
  return {
    '_rels/.rels': relationships(['officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': '<workbook><sheets><sheet name="Plants" r:id="r0"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relationships(
      ['worksheet', 'worksheets/sheet1.xml'],
      ['styles', 'styles.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
    ),
    'xl/styles.xml': '<styleSheet/>',
    'xl/sharedStrings.xml': '<sst/>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  }
}

/** A part that is compressed already. */
export interface Compressed {
  readonly deflated: Buffer
}

/** A ZIP archive, with other fields of each entry than its content needs. */
export function zip(
  parts: Readonly<Record<string, string | Compressed>>,
  { flags = 0, method = 8 } = {},
): Blob {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let start = 0
  for (const [path, content] of Object.entries(parts)) {
    const isText = typeof content === 'string'
    const data = isText ? deflateRawSync(content) : content.deflated
    const common = Buffer.alloc(26)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(isText ? crc32(content) : 0, 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(isText ? Buffer.byteLength(content) : 0, 18)
    common.writeUInt16LE(path.length, 22)
    const end = Buffer.alloc(14)
    end.writeUInt32LE(start, 10)
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(path), data])
    files.push(file)
    directory.push(Buffer.from('PK\x01\x02\0\0'), common, end, Buffer.from(path))
    start += file.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(start, 16)
  return new Blob([Buffer.concat([...files, ...directory, end])])
}

/** Compresses text that is repeated, in the time that one takes. */
export function repeat(before: string, text: string, times: number, after = ''): Compressed {
  const block = (text: string) => deflateRawSync(text, { finishFlush: constants.Z_FULL_FLUSH })
  const blocks = Array.from<Buffer>({ length: times }).fill(block(text))
  return { deflated: Buffer.concat([block(before), ...blocks, deflateRawSync(after)]) }
}

const RECORDS_KEPT = 100

/** The first records of the first sheet and, if it cannot be read to its end, why. */
export async function readSheet(
  file: Blob,
): Promise<{ readonly records: readonly FileRecord[]; readonly problem?: string }> {
  const records: FileRecord[] = []
  try {
    const [sheet] = await openWorkbook(file)
    for await (const record of known(sheet).records()) {
      if (records.length < RECORDS_KEPT) records.push(record)
    }
    return { records }
  } catch (error) {
    return { records, problem: String(error) }
  }
}

/** Writes plants as a workbook. */
export async function writePlants(
  members: readonly Member[],
  plants: readonly StoredPlant[],
): Promise<Blob> {
  async function* batches() {
    yield plants
  }
  return new Blob(await Array.fromAsync(writeWorkbook(members, batches())))
}

/** The fields of the first sheet, in as many columns. */
export async function readFields(file: Blob, columns: number): Promise<unknown[][]> {
  const [sheet] = await openWorkbook(file)
  return Array.fromAsync(known(sheet).records(), ({ values }) =>
    Array.from({ length: columns }, (_, column) => values[column]),
  )
}
