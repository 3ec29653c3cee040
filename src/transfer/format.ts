import { extname } from 'node:path'
import type { ExportFormat, RecordFormat } from '../../core/files/record-formats.ts'
import type { components } from '../../core/generated/api.gen.ts'
import { keysOf } from '../../core/known.ts'
import type { PlantCodec } from '../../service/plant-codec.ts'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import { FileError } from '../system/user-errors.ts'

/** The file name that stands for standard input or output. */
export const STDIO = '-'

const EXTENSIONS: { readonly [Each in ExportFormat]: readonly string[] } = {
  ndjson: ['.ndjson', '.jsonl'],
  csv: ['.csv'],
  xlsx: ['.xlsx'],
}

/** The formats that can be exported. */
export const exportFormats = keysOf(EXTENSIONS)

/** Whether the name of a file says that it is NDJSON. */
export function isNdjsonName(file: string): boolean {
  return EXTENSIONS.ndjson.includes(extname(file).toLowerCase())
}

/**
 * Determines the format of an export from the extension of its file.
 *
 * @throws FileError if the extension is unknown
 */
export function detectFormat(file: string): ExportFormat {
  const extension = extname(file).toLowerCase()
  const format = exportFormats.find((each) => EXTENSIONS[each].includes(extension))
  if (format !== undefined) return format
  const endings = Object.values(EXTENSIONS).flat().join(', ')
  throw new FileError(
    `cannot tell the format of ${file}: expected a name ending in one of ${endings}; otherwise use --format ${exportFormats.join(' or ')}`,
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
