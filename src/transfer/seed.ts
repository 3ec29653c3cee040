import { access } from 'node:fs/promises'
import type { ErrorObject } from 'ajv'
import { type ContractDocument, plantMembers } from '../../core/contract/contract.ts'
import { compileComponent } from '../../core/contract/validators.ts'
import { counted } from '../../core/files/formats.ts'
import type { RecordValues } from '../../core/files/record-mapper.ts'
import { known } from '../../core/known.ts'
import type { ChangeOf, PlantStore } from '../../service/store/plant-store.ts'
import { escapeControlCharacters } from '../system/control-characters.ts'
import { FileError, fileError, Interrupted } from '../system/user-errors.ts'
import { importRecords, newCounts, type RecordImportOptions } from './import.ts'
import { type ImportStore, importStore } from './import-changes.ts'
import { openInput } from './input.ts'
import type { RecordBatch } from './record.ts'
import { openRecords } from './record-batches.ts'

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
 * @throws FileError if the file cannot be read
 */
export async function prepareSeed(
  contract: ContractDocument,
  seed: string | readonly object[] = [],
): Promise<Seeder> {
  if (typeof seed !== 'string') return preparePlants(contract, seed)
  const members = plantMembers(contract)
  await access(seed).catch((error) => {
    throw fileError(`cannot read ${seed}`, error)
  })
  return async (store, signal) => {
    const { chunks, isFile } = await openInput(seed, signal)
    const counts = newCounts()
    try {
      const options = { file: seed, members, refuseMembers: true, canBeCutOff: !isFile }
      const { format, batches } = await openRecords(chunks, options)
      const locate = (number: number) => `${counted[format]} ${number}`
      await importSeed(batches, importStore(store, members), { members, locate, counts, signal })
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

/**
 * Reads the plants of a file with a seed. Equal ones are read once.
 *
 * @throws FileError as a Seeder does
 */
export async function readSeed(
  contract: ContractDocument,
  file: Uint8Array,
): Promise<readonly ChangeOf<'create'>[]> {
  const members = plantMembers(contract)
  const options = { file: 'seed.ndjson', members, refuseMembers: true }
  async function* chunks() {
    yield file
  }
  const { format, batches } = await openRecords(chunks(), options)
  const plants = new Map<bigint, ChangeOf<'create'>>()
  const store: ImportStore = {
    find: async () => plants,
    apply: async (changes) => {
      for (const change of changes) if (change.type === 'create') plants.set(change.id, change)
      return changes.map(() => 'created')
    },
  }
  const locate = (number: number) => `${counted[format]} ${number}`
  await importSeed(batches, store, { members, locate, counts: newCounts() })
  return [...plants.values()]
}

function preparePlants(contract: ContractDocument, plants: readonly object[]): Seeder {
  // Compiling the validator would slow down every start.
  if (plants.length === 0) return async () => {}
  const isNewPlant = compileComponent(contract, 'NewPlant')
  const members = plantMembers(contract)
  const read = (plant: object): RecordValues | string => {
    // The validator modifies its argument.
    const values = { ...plant } as RecordValues
    return isNewPlant(values) ? values : describeError(known(isNewPlant.errors?.[0]))
  }
  const records = plants.map((plant, number) => ({ number, result: read(plant) }))
  async function* batches() {
    yield { records, endByte: 0 }
  }
  const locate = (index: number) => `seed[${index}]`
  return (store) =>
    importSeed(batches(), importStore(store, members), { members, locate, counts: newCounts() })
}

/** The same message as in the API, without its `body/` prefix. */
function describeError({ instancePath, message }: ErrorObject): string {
  return `${instancePath.slice(1)} ${message}`.trim()
}

async function importSeed(
  batches: AsyncIterable<RecordBatch>,
  store: ImportStore,
  options: Pick<RecordImportOptions, 'members' | 'locate' | 'counts' | 'signal'>,
): Promise<void> {
  await importRecords(batches, {
    ...options,
    store,
    onConflict: 'stop',
    onError: 'stop',
    onRefused: (where, reason) => {
      throw new FileError(`${where}: ${escapeControlCharacters(reason)}`)
    },
    onProgress: () => {},
  })
}
