import type { FileRecord } from '../file-record.ts'
import { type CellFormat, cellFormat } from './cell-formats.ts'
import { decodeEscapes, SheetParser } from './sheet-parser.ts'
import { StringTable } from './string-table.ts'
import { type XmlHandler, XmlReader } from './xml-reader.ts'
import { InvalidWorkbook, inflate, readZipDirectory, type ZipEntry } from './zip.ts'

/** What the parts of a workbook can have when they are inflated, in MB. */
const SHEET_MB_MAX = 512
const STRINGS_MB_MAX = 256
const OTHER_MB_MAX = 8

/** How long a part is read before other tasks run, because streams that need not wait leave them no time. */
const BUSY_MS = 30

/** From a part of a workbook to another. */
interface Relationship {
  readonly id: string | undefined
  readonly type: string | undefined
  readonly path: string
}

export interface Sheet {
  readonly name: string
  /**
   * Reads the rows: values by column, as in CSV, with what the cells contain rather than how it is rounded. The text of
   * a number is its shortest decimal, that of a date or time is as in RFC 3339, and a formula has its last result. Stops
   * when the caller does.
   *
   * @param onRead called with the number of bytes of the file read so far
   * @throws InvalidWorkbook, or MalformedFile after the records before the fault
   */
  readonly records: (onRead?: (bytes: number) => void) => AsyncGenerator<FileRecord, void>
}

/**
 * Lists the sheets of a workbook (ECMA-376, .xlsx), in order. Libraries inflate a workbook as a whole, and many keep all
 * cells; this reads both in parts, so that memory is bounded by the strings that cells share.
 *
 * @throws InvalidWorkbook
 */
export async function openWorkbook(file: Blob): Promise<readonly Sheet[]> {
  return new Workbook(file, await readZipDirectory(file)).listSheets()
}

class Workbook {
  readonly #file: Blob
  readonly #entries: ReadonlyMap<string, ZipEntry>

  constructor(file: Blob, entries: ReadonlyMap<string, ZipEntry>) {
    this.#file = file
    this.#entries = entries
  }

  async listSheets(): Promise<readonly Sheet[]> {
    const path = pathOf(await this.#readRelationships(''), 'officeDocument')
    if (path === undefined) throw new InvalidWorkbook('the file is not a workbook')
    const related = await this.#readRelationships(path)
    const paths = new Map(
      related.filter(({ type }) => type === 'worksheet').map(({ id, path }) => [id, path]),
    )
    const sheets: Sheet[] = []
    let is1904 = false
    await this.#readElements(path, {
      open: (name, attributes) => {
        if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes('date1904') ?? '')
        const path = name === 'sheet' ? paths.get(attributes('id')) : undefined
        // Sheets of charts and macros have no rows.
        if (path === undefined) return
        sheets.push({
          name: decodeEscapes(attributes('name') ?? ''),
          records: (onRead) => this.#readSheet(path, related, is1904, onRead),
        })
      },
    })
    if (sheets.length === 0) throw new InvalidWorkbook('the workbook has no sheets')
    return sheets
  }

  /** @param path that of the part whose relationships are read; empty for those of the workbook */
  async #readRelationships(path: string): Promise<readonly Relationship[]> {
    const relationships: Relationship[] = []
    const file = path.slice(path.lastIndexOf('/') + 1)
    const relationshipPath = resolvePath(path, `_rels/${file}.rels`)
    if (!this.#entries.has(relationshipPath)) return relationships
    await this.#readElements(relationshipPath, {
      open(name, attributes) {
        if (name !== 'Relationship') return
        relationships.push({
          id: attributes('Id'),
          // Those of ISO 29500 Strict begin otherwise.
          type: attributes('Type')?.split('/').at(-1),
          path: resolvePath(path, attributes('Target') ?? ''),
        })
      },
    })
    return relationships
  }

  async *#readSheet(
    path: string,
    related: readonly Relationship[],
    is1904: boolean,
    onRead: (bytes: number) => void = () => {},
  ): AsyncGenerator<FileRecord, void> {
    let bytes = 0
    const count = (added: number) => {
      bytes += added
      onRead(bytes)
    }
    const strings = await this.#readStrings(pathOf(related, 'sharedStrings'), count)
    const formats = await this.#readFormats(pathOf(related, 'styles'))
    const parser = new SheetParser({ strings, formats, is1904 })
    for await (const xml of this.#read(path, SHEET_MB_MAX, count)) {
      yield* parser.write(xml)
      if (parser.isComplete) return
    }
    parser.end()
  }

  async #readStrings(
    path: string | undefined,
    onRead: (bytes: number) => void,
  ): Promise<StringTable> {
    const strings = new StringTable()
    if (path === undefined) return strings
    let item = ''
    let isText = false
    let isPhonetic = false
    const xml = new XmlReader({
      open(name) {
        if (name === 'si') item = ''
        if (name === 'rPh') isPhonetic = true
        isText = name === 't' && !isPhonetic
      },
      text(text) {
        if (isText) item += text
      },
      close(name) {
        isText = false
        if (name === 'rPh') isPhonetic = false
        if (name === 'si') strings.add(decodeEscapes(item))
      },
    })
    for await (const part of this.#read(path, STRINGS_MB_MAX, onRead)) xml.write(part)
    xml.end()
    return strings
  }

  /** The formats of cells by their style. */
  async #readFormats(path: string | undefined): Promise<readonly CellFormat[]> {
    const codes = new Map<number, string>()
    const formats: CellFormat[] = []
    if (path === undefined) return formats
    let isCellStyle = false
    await this.#readElements(path, {
      open(name, attributes) {
        const id = Number(attributes('numFmtId'))
        if (name === 'cellXfs') isCellStyle = true
        else if (name === 'numFmt') codes.set(id, attributes('formatCode') ?? '')
        else if (name === 'xf' && isCellStyle) formats.push(cellFormat(id, codes.get(id)))
      },
      close(name) {
        if (name === 'cellXfs') isCellStyle = false
      },
    })
    return formats
  }

  /** Reads a small part as a whole, because a `>` in an attribute could otherwise end its tag. */
  async #readElements(path: string, handler: XmlHandler): Promise<void> {
    let text = ''
    for await (const part of this.#read(path, OTHER_MB_MAX)) text += part
    new XmlReader(handler).parse(text)
  }

  async *#read(
    path: string,
    mbMax: number,
    onRead?: (bytes: number) => void,
  ): AsyncGenerator<string, void> {
    const entry = this.#entries.get(path)
    if (entry === undefined) throw new InvalidWorkbook('the workbook is incomplete')
    const decoder = new TextDecoder()
    let bytes = 0
    let resumed = performance.now()
    for await (const part of inflate(this.#file, entry, onRead)) {
      bytes += part.byteLength
      if (bytes > mbMax * 2 ** 20) {
        throw new InvalidWorkbook(`a part of the workbook has more than ${mbMax} MB unpacked`)
      }
      if (performance.now() - resumed > BUSY_MS) {
        await new Promise((resolve) => setTimeout(resolve))
        resumed = performance.now()
      }
      yield decoder.decode(part, { stream: true })
    }
    yield decoder.decode()
  }
}

function pathOf(relationships: readonly Relationship[], type: string): string | undefined {
  return relationships.find((relationship) => relationship.type === type)?.path
}

/** A path in the archive, in lower case, from one that is relative to the folder of another. */
function resolvePath(base: string, path: string): string {
  const names = path.startsWith('/') ? [] : base.split('/').slice(0, -1)
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names.join('/').toLowerCase()
}
