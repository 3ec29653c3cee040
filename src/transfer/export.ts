import type { RecordFormat } from '../../formats/record-formats.ts'
import type { PlantCodec } from '../../service/plant-codec.ts'
import type { StoredPlant } from '../../service/plant-store.ts'

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
  let count = 0
  if (header !== '') yield header
  for await (const plants of batches) {
    yield plants.map((plant) => line(codec.toValues(plant))).join('')
    count += plants.length
    onProgress(count)
  }
}
