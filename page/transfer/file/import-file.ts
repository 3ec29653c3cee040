import { FileProblem, isWorkbook } from '../../../core/files/file-kind.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import {
  type FileChoices,
  type PlantFile,
  recognizeFile,
  START_BYTES,
} from '../../../core/files/plant-file.ts'
import { members } from '../../model/current-members.ts'

/** A file that can be imported. */
export interface ImportFile extends Omit<PlantFile, 'read'> {
  readonly name: string
  readonly size: number
  /** Whether the page chooses the ids, so that importing the file again would add all plants again. */
  readonly isNumbered?: boolean
  /** How the person has chosen to read it. */
  readonly choices: FileChoices
  /**
   * All records that have a value.
   *
   * @param onRead called with the number of bytes read so far
   * @throws FileProblem
   */
  readonly records: (onRead?: (bytes: number) => void) => AsyncIterable<FileRecord>
  /** The same file, read in another way. */
  readonly choose: (choices: FileChoices) => Promise<ImportFile>
}

/** A file that is larger would take minutes, in a tab that has to stay open. */
export const FILE_BYTES_MAX = 200_000_000

/** How much is read at once. Its records take a few milliseconds, so that the page stays responsive. */
const CHUNK_BYTES = 2 ** 17

/**
 * Recognizes how a file is written, and reads its columns and first records.
 *
 * @throws FileProblem
 */
export async function openFile(file: File, choices: FileChoices = {}): Promise<ImportFile> {
  const { name, size } = file
  if (size > FILE_BYTES_MAX) {
    throw new FileProblem(
      `This file has ${describeBytes(size)}. Here, a file can have up to ${describeBytes(FILE_BYTES_MAX)}. Split it, or ask the operator of the service to import it with the command “plant-store import”.`,
    )
  }
  const start = await readBytes(file.slice(0, START_BYTES))
  const { read, ...recognized } = isWorkbook(start)
    ? await recognizeSheets(file, choices)
    : await recognizeFile(start, size <= START_BYTES, members, choices)
  if (recognized.sample.length === 0) {
    const rest = recognized.columns.length > 0 ? ', only column names' : ''
    throw new FileProblem(`There are no plants in this file${rest}.`)
  }
  return {
    ...recognized,
    name,
    size,
    choices,
    async *records(onRead) {
      for await (const { records, endByte } of read(readChunks(file))) {
        for (const record of records) if (!record.isBlank) yield record
        onRead?.(endByte)
      }
    },
    choose: (chosen) => openFile(file, chosen),
  }
}

/** The code for workbooks is loaded when it is needed. */
async function recognizeSheets(file: File, choices: FileChoices): Promise<PlantFile> {
  const { recognizeWorkbook } = await import('../../../core/files/xlsx/workbook-file.ts')
  return recognizeWorkbook(file, members, choices)
}

async function* readChunks(file: Blob): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < file.size; start += CHUNK_BYTES) {
    yield await readBytes(file.slice(start, start + CHUNK_BYTES))
  }
}

async function readBytes(part: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await part.arrayBuffer())
  } catch {
    throw new FileProblem(
      'This file cannot be read. If it is a folder, choose a file in it. If the file was moved or changed, choose it again.',
    )
  }
}

export function describeBytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`
  return bytes < 1e9 ? `${Math.ceil(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}
