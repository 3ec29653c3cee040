import { access } from 'node:fs/promises'
import { type ContractDocument, plantMembers } from '../../core/contract/contract.ts'
import { readers } from '../../core/files/readers.ts'
import type { RecordValues } from '../../core/files/record-mapper.ts'
import type { PlantStore } from '../../service/store/plant-store.ts'
import { escapeControlCharacters } from '../system/control-characters.ts'
import { FileError, fileError, Interrupted } from '../system/user-errors.ts'
import { detectFormat, formats } from './format.ts'
import { importRecords, newCounts, type RecordImportOptions } from './import.ts'
import { importStore } from './import-changes.ts'
import { openInput } from './input.ts'
import { type RecordBatch, recordValidator, toRecordValues } from './record.ts'
import { readRecords } from './record-batches.ts'

type SeedStore = Pick<PlantStore, 'apply' | 'getAll'>

/**
 * Stores the seed. Plants that are already stored do not change.
 *
 * @param signal interrupts it if the seed is a file; its reason must be Interrupted
 * @throws FileError for the first record that is invalid, has data that is not stored or conflicts with a stored
 *   plant, and Interrupted; the records before that are stored
 */
export type Seeder = (store: SeedStore, signal?: AbortSignal) => Promise<void>

/**
 * Validates a seed as far as possible without a store, so that a mistake is found before a database is created.
 *
 * @param contract can have own fields
 * @param seed the name of a file, or plants as in the API
 * @throws FileError if the file cannot be read or its format is unknown
 */
export async function prepareSeed(
  contract: ContractDocument,
  seed: string | readonly object[] = [],
): Promise<Seeder> {
  if (typeof seed !== 'string') return preparePlants(contract, seed)
  const format = detectFormat(seed, formats)
  const members = plantMembers(contract)
  await access(seed).catch((error) => {
    throw fileError(`cannot read ${seed}`, error)
  })
  return async (store, signal) => {
    const { counted } = readers[format]
    const { chunks, isFile } = await openInput(seed, signal)
    const counts = newCounts()
    try {
      const options = { contract, refuseMembers: true, canBeCutOff: !isFile }
      const batches = toRecordValues(readRecords(format, chunks, options), members, format)
      const locate = (number: number) => `${counted} ${number}`
      await importSeed(batches, store, { members, locate, counts })
    } catch (error) {
      if (error instanceof Interrupted) {
        const { created, replayed } = counts
        throw new Interrupted(
          error.exitCode,
          `interrupted while seeding from ${seed}: ${created + replayed} plants are stored (created ${created}, replayed ${replayed}); start again with the same seed to continue`,
        )
      }
      if (!(error instanceof FileError)) throw error
      throw new FileError(`cannot seed from ${seed}: ${error.message}`, { cause: error })
    }
  }
}

function preparePlants(contract: ContractDocument, plants: readonly object[]): Seeder {
  // Compiling the validator would slow down every start.
  if (plants.length === 0) return async () => {}
  const validate = recordValidator(contract)
  // The validator modifies its argument, so it gets copies.
  const records = plants.map((plant, number) => ({ number, result: validate({ ...plant }) }))
  async function* batches() {
    yield { records, endByte: 0 }
  }
  const members = plantMembers(contract)
  const locate = (index: number) => `seed[${index}]`
  return (store) =>
    importSeed(toRecordValues(batches(), members), store, { members, locate, counts: newCounts() })
}

async function importSeed(
  batches: AsyncIterable<RecordBatch<RecordValues>>,
  store: SeedStore,
  options: Pick<RecordImportOptions, 'members' | 'locate' | 'counts'>,
): Promise<void> {
  await importRecords(batches, {
    ...options,
    store: importStore(store, options.members),
    onConflict: 'stop',
    onError: 'stop',
    onRefused: (where, reason) => {
      throw new FileError(`${where}: ${escapeControlCharacters(reason)}`)
    },
    onProgress: () => {},
  })
}
