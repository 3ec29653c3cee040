import { detectEncoding } from './encoding.ts'

/** A file cannot be imported, or not any further. The message consists of sentences for the person. */
export class FileProblem extends Error {}

const AS_TABLE = 'Open it in its program, and save or export the plants as XLSX or CSV.'
const UNPACK = 'Unpack it first.'

/** What a file can be that is not text with plants. */
interface OtherKind {
  readonly is: string
  readonly remedy?: string
}

const ZIP = 'PK\x03\x04'

/** How other files start. */
const STARTS: readonly (readonly [start: string, kind: OtherKind])[] = [
  ['\x89PNG', { is: 'an image' }],
  ['\xff\xd8\xff', { is: 'an image' }],
  ['GIF8', { is: 'an image' }],
  ['%PDF', { is: 'a PDF file', remedy: AS_TABLE }],
  [
    '\xd0\xcf\x11\xe0',
    { is: 'an old Excel workbook or another Office document', remedy: AS_TABLE },
  ],
  ['{\\rtf', { is: 'a text document', remedy: AS_TABLE }],
  ['\x1f\x8b', { is: 'a file compressed by gzip', remedy: UNPACK }],
  [ZIP, { is: 'a ZIP file', remedy: UNPACK }],
  ['BZh', { is: 'a file compressed by bzip2', remedy: UNPACK }],
  ['\x28\xb5\x2f\xfd', { is: 'a file compressed by Zstandard', remedy: UNPACK }],
  ['\xfd7zXZ', { is: 'a file compressed by xz', remedy: UNPACK }],
  ['7z\xbc\xaf', { is: 'a 7-Zip archive', remedy: UNPACK }],
  ['SQLite format 3', { is: 'a SQLite database', remedy: AS_TABLE }],
  ['PAR1', { is: 'a Parquet file', remedy: 'Convert it to CSV or NDJSON.' }],
  ['Obj\x01', { is: 'an Avro file', remedy: 'Convert it to CSV or NDJSON.' }],
  ['ARROW1', { is: 'an Arrow file', remedy: 'Convert it to CSV or NDJSON.' }],
  [
    'version https://git-lfs',
    { is: 'a pointer of Git LFS, not the file itself', remedy: 'Download it with “git lfs pull”.' },
  ],
]

/** How other text starts, after a byte order mark and whitespace. */
const TEXT_STARTS: readonly (readonly [pattern: RegExp, kind: OtherKind])[] = [
  [
    /^<(?:!doctype|html|table|head|body|meta|div|style)\b/i,
    { is: 'a web page, even if its name ends in .xls', remedy: AS_TABLE },
  ],
  [/^<\?xml|^<[a-z]/i, { is: 'an XML file', remedy: AS_TABLE }],
  // A CSV file can start with a header such as `ID;Plant`.
  [
    /^ID;P\w*(?:;N;E\s|\r?\n(?:[BC];[XY]\d|P;PGeneral))/,
    { is: 'a SYLK spreadsheet', remedy: AS_TABLE },
  ],
  [
    /^\|.*\|\s*\n\s*\|(?:\s*:?-+:?\s*\|)+/,
    { is: 'a Markdown table', remedy: 'Paste it into a spreadsheet, and save it as XLSX or CSV.' },
  ],
  [
    /^\/[/*](?=[\s\S]*\n[ \t]*[[{])/,
    { is: 'JSON with comments, which JSON does not have', remedy: 'Remove them, from line 1 on.' },
  ],
]

/** Parts of an Office document. */
const PACKAGE = /\[Content_Types\]\.xml|_rels\/|xl\//

const SHEET = 'application/vnd.oasis.opendocument.spreadsheet'

/** How much of a file is examined. */
const START_LENGTH = 2 ** 12

/** Whether a file is a workbook, or another Office document of that kind, given its first bytes. */
export function isWorkbook(start: Uint8Array): boolean {
  const text = toText(start)
  return text.startsWith(ZIP) && !text.includes(SHEET) && PACKAGE.test(text)
}

/**
 * Refuses files that are neither workbooks nor text with plants.
 *
 * @param start the first bytes
 * @throws FileProblem if the file is empty or certainly has no plants
 */
export function refuseOtherBytes(start: Uint8Array): void {
  if (start.length === 0) throw new FileProblem('This file is empty.')
  const text = toText(start)
  if (text.startsWith(ZIP) && text.includes(SHEET)) {
    refuse({ is: 'an OpenDocument spreadsheet', remedy: AS_TABLE })
  }
  const kind = STARTS.find(([other]) => text.startsWith(other))?.[1]
  if (kind !== undefined) refuse(kind)
  // A single NUL can be a mistake in a name, which is reported for its record. Names can have control characters, and
  // bytes of UTF-16 look like them.
  const first = start.subarray(0, START_LENGTH)
  const encoding = detectEncoding(start)
  const controls = first.filter((byte) =>
    byte === 0 ? !encoding.startsWith('utf-16') : encoding === 'windows-1252' && isControl(byte),
  )
  if (controls.length > first.length / 16) refuse({ is: 'not a text file' })
}

function toText(start: Uint8Array): string {
  return String.fromCharCode(...start.subarray(0, START_LENGTH))
}

/** Whether text hardly has a byte: control characters other than whitespace and escape. */
function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x1b && !(byte >= 0x09 && byte <= 0x0d)
}

/** @throws FileProblem if text certainly is no list of plants */
export function refuseOtherText(text: string): void {
  const kind = TEXT_STARTS.find(([pattern]) => pattern.test(text.trimStart()))?.[1]
  if (kind !== undefined) refuse(kind)
}

const EXPECTED = 'Plants can be imported from XLSX, CSV, NDJSON and JSON files.'

function refuse({ is, remedy }: OtherKind): never {
  throw new FileProblem(`This is ${is}. ${remedy ?? EXPECTED}`)
}
