import t from 'tap'
import { recordFormats } from '../../core/files/record-formats.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import { formatPlants } from '../../src/transfer/format.ts'

t.test('progress counts the plants that have been formatted', async (t) => {
  const plant = { id: 4n, name: 'Abies alba Mill.' }
  async function* batches() {
    yield [plant, plant]
    yield [plant]
  }
  const counts: number[] = []
  let text = ''
  for await (const part of formatPlants(batches(), recordFormats.csv, new PlantCodec([]), (count) =>
    counts.push(count),
  )) {
    text += part
  }
  t.same(counts, [2, 3])
  t.equal(text.split('\n').length, 5, 'a header, three plants and a final newline')
})
