import { type Format, readers } from '../../../core/files/readers.ts'

/** A file cannot be imported, or not any further. The message consists of sentences for the person. */
export class FileProblem extends Error {}

/** The encodings that are recognized, as `TextDecoder` names them. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** A file that is larger would take minutes, in a tab that has to stay open. */
export const FILE_BYTES_MAX = 200_000_000

/** How much is read at once. Its records take a few milliseconds, so that the page stays responsive. */
const CHUNK_BYTES = 2 ** 17

/** How much of a file is searched for NUL bytes. */
const START_BYTES = 2 ** 12

const AS_CSV = 'Open it in its program, and save or export the plants as CSV.'

/** Byte order marks other than that of UTF-8, which `TextDecoder` removes. */
const MARKS: readonly (readonly [first: number, second: number, encoding: Encoding])[] = [
  [0xff, 0xfe, 'utf-16le'],
  [0xfe, 0xff, 'utf-16be'],
]

/** How files start that people take for text. */
const OTHERS: readonly (readonly [start: string, problem: string])[] = [
  ['\x89PNG', 'This is an image.'],
  ['\xff\xd8\xff', 'This is an image.'],
  ['GIF8', 'This is an image.'],
  ['%PDF', `This is a PDF file. ${AS_CSV}`],
  ['\xd0\xcf\x11\xe0', `This is a spreadsheet or an Office document. ${AS_CSV}`],
  ['{\\rtf', `This is a text document. ${AS_CSV}`],
  ['\x1f\x8b', 'This is a compressed file. Unpack it first.'],
  ['SQLite format 3', `This is a database. ${AS_CSV}`],
  ['<', 'This is a web page or an XML file.'],
]

const SPREADSHEET_NAME = /\.(xls[xmb]|ods|numbers)$/i

/**
 * Recognizes the encoding by the byte order mark or, without one, by whether the whole file is valid UTF-8.
 *
 * @throws FileProblem if the file is empty, too large, unreadable or obviously not text
 */
export async function detectEncoding(file: File): Promise<Encoding> {
  if (file.size > FILE_BYTES_MAX) {
    throw new FileProblem(
      `This file has ${describeBytes(file.size)}. Here, a file can have up to ${describeBytes(FILE_BYTES_MAX)}. Split it, or ask the operator of the service to import it with the command “plant-store import”.`,
    )
  }
  const start = new Uint8Array(await readBytes(file.slice(0, START_BYTES)))
  if (start.length === 0) throw new FileProblem('This file is empty.')
  const marked = MARKS.find(([first, second]) => start[0] === first && start[1] === second)?.[2]
  if (marked === undefined) refuseOthers(start, file.name)
  if (await isValid(file, marked ?? 'utf-8')) return marked ?? 'utf-8'
  if (marked === undefined) return 'windows-1252'
  throw new FileProblem('This file is damaged: its text is not valid UTF-16.')
}

function refuseOthers(start: Uint8Array, name: string): void {
  const text = String.fromCharCode(...start)
  const hasStart = (other: string) => text.startsWith(other)
  if (hasStart('PK\x03\x04')) {
    throw new FileProblem(
      SPREADSHEET_NAME.test(name)
        ? 'This is a spreadsheet. Open it, and save the sheet as CSV.'
        : 'This is a ZIP file. Unpack it first. If it is a spreadsheet, save it as CSV.',
    )
  }
  const problem = OTHERS.find(([other]) => hasStart(other))?.[1]
  if (problem !== undefined) throw new FileProblem(`${problem} ${EXPECTED}`)
  // A single one can be a mistake in a name, which is reported for its record.
  if (text.split('\0').length - 1 > text.length / 4) {
    throw new FileProblem(`This is not a text file. ${EXPECTED}`)
  }
}

const EXPECTED = 'Plants can be imported from CSV, NDJSON and JSON files.'

async function isValid(file: Blob, encoding: Encoding): Promise<boolean> {
  try {
    for await (const _text of readText(file, encoding));
    return true
  } catch (error) {
    if (error instanceof FileProblem) throw error
    return false
  }
}

/**
 * Reads a file in parts, without its byte order mark.
 *
 * @param onRead called with the number of bytes read so far
 * @throws FileProblem if it cannot be read
 * @throws TypeError if it is not valid in the encoding
 */
export async function* readText(
  file: Blob,
  encoding: Encoding,
  onRead?: (bytes: number) => void,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  for (let start = 0; start < file.size; start += CHUNK_BYTES) {
    const bytes = await readBytes(file.slice(start, start + CHUNK_BYTES))
    yield decoder.decode(bytes, { stream: true })
    onRead?.(start + bytes.byteLength)
  }
  yield decoder.decode()
}

async function readBytes(part: Blob): Promise<ArrayBuffer> {
  try {
    return await part.arrayBuffer()
  } catch {
    throw new FileProblem(
      'This file cannot be read. If it is a folder, choose a file in it. If the file was moved or changed, choose it again.',
    )
  }
}

/** An array of objects in an object, such as `{"plants": [{` after members that are neither objects nor arrays. */
const WRAPPED =
  /^\s*\{(?:\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[\w.+-]+)\s*,)*\s*"(?:[^"\\]|\\.)*"\s*:\s*(?=\[\s*[{\]])/

/**
 * How the plants of a file are written, given its start as text. A file name does not say whether JSON is an array.
 */
export function detectFormat(start: string): Format {
  const first = start.trimStart()[0]
  if (first === '[' || wrapperOf(start) !== '') return 'json'
  return first === '{' ? 'ndjson' : 'csv'
}

/** What precedes the array of a JSON file that contains it in an object; otherwise empty. */
export function wrapperOf(start: string): string {
  const [wrapper = ''] = WRAPPED.exec(start) ?? []
  return wrapper !== '' && isRecord(start) ? '' : wrapper
}

/** Whether the first line is a record of NDJSON, which can have an array of objects too. */
function isRecord(start: string): boolean {
  const [line = '', ...others] = start.trim().split('\n')
  try {
    JSON.parse(line)
    return others.length > 0
  } catch {
    return false
  }
}

/** What the number of a record counts, at the start of a sentence. */
export function nounOf(format: Format): string {
  return readers[format].counted === 'line' ? 'Line' : 'Item'
}

export function describeBytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`
  return bytes < 1e9 ? `${Math.ceil(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}
