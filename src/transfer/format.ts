import { extname } from 'node:path'
import type { Format } from '../../core/files/readers.ts'
import type { ExportFormat, RecordFormat } from '../../core/files/record-formats.ts'
import type { components } from '../../core/generated/api.gen.ts'
import type { PlantCodec } from '../../service/plant-codec.ts'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import { FileError } from '../system/user-errors.ts'

/** The file name that stands for standard input or output. */
export const STDIO = '-'

type FileFormat = Format | ExportFormat

const EXTENSIONS: { readonly [Each in FileFormat]: readonly string[] } = {
  ndjson: ['.ndjson', '.jsonl'],
  csv: ['.csv'],
  json: ['.json'],
  xlsx: ['.xlsx'],
}

/** The formats that can be imported. */
export const formats: readonly Format[] = ['ndjson', 'csv', 'json']

export const exportFormats: readonly ExportFormat[] = ['ndjson', 'csv', 'xlsx']

/** Completes the error of `detectFormat` for commands with a `--format` option. */
export function formatHint(formats: readonly FileFormat[]): string {
  return `; otherwise use --format ${formats.join(' or ')}`
}

/**
 * Determines the format of a file from its extension.
 *
 * @param allowed the formats to choose from
 * @param hint appended to the error message
 * @throws FileError if the extension is unknown
 */
export function detectFormat<Allowed extends FileFormat>(
  file: string,
  allowed: readonly Allowed[],
  hint = '',
): Allowed {
  const extension = extname(file).toLowerCase()
  const format = allowed.find((each) => EXTENSIONS[each].includes(extension))
  if (format !== undefined) return format
  const endings = allowed.flatMap((each) => EXTENSIONS[each]).join(', ')
  throw new FileError(
    `cannot tell the format of ${file}: expected a name ending in one of ${endings}${hint}`,
  )
}

/**
 * Formats plants as the contents of a file, one batch at a time.
 *
 * @param onProgress called with the number of plants in the batches consumed so far
 */
export async function* formatPlants(
  batches: AsyncIterable<readonly StoredPlant[]>,
  { header, line }: RecordFormat,
  codec: PlantCodec,
  onProgress: (plants: number) => void,
): AsyncGenerator<string, void> {
  if (header !== '') yield header
  for await (const plants of readValues(batches, codec, onProgress)) yield plants.map(line).join('')
}

/**
 * Reads plants as in the API.
 *
 * @param onProgress called with the number of plants in the batches consumed so far
 */
export async function* readValues(
  batches: AsyncIterable<readonly StoredPlant[]>,
  codec: PlantCodec,
  onProgress: (plants: number) => void,
): AsyncGenerator<readonly components['schemas']['StoredPlant'][], void> {
  let count = 0
  for await (const plants of batches) {
    yield plants.map((plant) => codec.toValues(plant))
    count += plants.length
    onProgress(count)
  }
}
