import { access } from 'node:fs/promises'
import type { NewPlant, PlantStore } from '../../service/plant-store.ts'
import { ConfigError } from '../config/config.ts'
import { fileError } from '../config/file-error.ts'
import { codecs } from './codecs.ts'
import { plantCheck } from './entry.ts'
import { formatOf } from './format.ts'
import { storePlants } from './import.ts'
import { printable } from './printable.ts'
import { RECORD_LIMIT } from './record-reader.ts'
import { type RecordBatch, readBatches } from './record-stream.ts'
import { bytesOf, openSource } from './source.ts'

type Store = Pick<PlantStore, 'importPlants'>

/** What stores the plants that a service begins with; those that are stored already change nothing. */
export type Seed = (store: Store) => Promise<void>

/**
 * Looks at the plants that a service is to begin with, as far as that can be done without a store: there is
 * none yet that a mistake would leave behind.
 *
 * @param seed the name of a file, or plants
 * @returns a function that throws ConfigError too, where a record or a plant is none or its id is taken by
 *   another plant; what is before it is stored then
 * @throws ConfigError naming what is wrong
 */
export async function prepareSeed(seed: string | readonly NewPlant[] = []): Promise<Seed> {
  if (typeof seed !== 'string') return seedPlants(seed)
  const format = formatOf(seed)
  await access(seed).catch((error) => {
    throw fileError(`cannot read ${seed}`, error)
  })
  return async (store) => {
    const { source } = await openSource(seed)
    const reader = new codecs[format].Reader(plantCheck(), RECORD_LIMIT)
    try {
      await seedStore(readBatches(bytesOf(seed, source), reader), store, (line) => `line ${line}`)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      throw new ConfigError(`cannot seed from ${seed}: ${error.message}`, { cause: error })
    }
  }
}

function seedPlants(plants: readonly NewPlant[]): Seed {
  // The check is not made for nothing, and changes what it is given.
  if (plants.length === 0) return async () => {}
  const check = plantCheck()
  const entries = plants.map((plant, line) => ({ line, content: check({ ...plant }) }))
  async function* batches() {
    yield { entries, position: 0 }
  }
  return (store) => seedStore(batches(), store, (line) => `seed[${line}]`)
}

/** @param nameOf what to call the record of a line */
async function seedStore(
  batches: AsyncIterable<RecordBatch>,
  store: Store,
  nameOf: (line: number) => string,
): Promise<void> {
  await storePlants(batches, {
    store,
    onConflict: 'stop',
    onError: 'stop',
    counts: { created: 0, replayed: 0, replaced: 0, kept: 0, refused: 0 },
    refuse: (line, reason) => {
      throw new ConfigError(`${nameOf(line)}: ${printable(reason)}`)
    },
    progress: () => {},
  })
}
