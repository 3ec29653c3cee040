import type { StoredPlant } from '../../service/plant-store.ts'
import type { Codec } from './codecs.ts'

/**
 * The text of a catalogue, some plants at a time.
 *
 * @param progress told how many plants there are in what was asked for
 */
export async function* writeCatalogue(
  plants: AsyncIterable<readonly StoredPlant[]>,
  { header, line }: Codec,
  progress: (plants: number) => void,
): AsyncGenerator<string, void> {
  let count = 0
  if (header !== '') yield header
  for await (const batch of plants) {
    yield batch.map(line).join('')
    count += batch.length
    progress(count)
  }
}
