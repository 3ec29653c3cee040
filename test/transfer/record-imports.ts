import type { Test } from 'tap'
import { extendContract, loadContract, plantMembers } from '../../core/contract/contract.ts'
import type { RecordValues } from '../../core/files/record-mapper.ts'
import { known } from '../../core/known.ts'
import type { OwnField } from '../../core/members/own-fields.ts'
import type { NewPlant } from '../../service/store/plant-store.ts'
import { DryRun } from '../../src/commands/transfer/dry-run.ts'
import { adoptFields } from '../../src/start/field-adoption.ts'
import { openReader, openStore } from '../../src/stores/engines.ts'
import type { PlantReader } from '../../src/stores/shared/store.ts'
import { importRecords, newCounts, type RecordImportOptions } from '../../src/transfer/import.ts'
import { type ImportStore, importStore } from '../../src/transfer/import-changes.ts'
import type { RecordBatch } from '../../src/transfer/record.ts'
import { FreeIds, matchIds, newIds } from '../../src/transfer/record-ids.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { type Engine, postgres, sqlite } from '../helpers/service/engine.ts'

export const engines: Readonly<Record<string, Engine>> = {
  SQLite: sqlite,
  PostgreSQL: await postgres(),
}

const FIELDS: readonly OwnField[] = [
  { name: 'accession', schema: { type: 'string' } },
  { name: 'height', schema: { type: 'integer', format: 'int32' } },
  { name: 'serial', schema: { type: 'integer', format: 'int64' } },
]

const members = plantMembers(extendContract(loadContract(), FIELDS))

export interface LoadOptions
  extends Pick<Partial<RecordImportOptions>, 'onConflict' | 'onError' | 'ids' | 'onFirst'> {
  readonly match?: string
  readonly newIds?: true
  readonly isDryRun?: boolean
  /** Makes the changes of a transaction, in place of the store. */
  readonly apply?: ImportStore['apply']
}

/** Imports records, one per line, into a new database that already contains some plants. */
export async function recordImports(t: Test, engine: Engine, plants: readonly NewPlant[] = []) {
  const { database } = await engine(t)
  const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
  t.teardown(() => store.close())
  await adoptFields(store, FIELDS, { hide: false })
  await importPlants(store, plants, 'stop')
  const locate = (line: number) => `line ${line}`

  /** Where the ids of records come from. */
  async function idsOf({ match, newIds: isNew, ids }: LoadOptions, of: PlantReader = store) {
    if (ids !== undefined || (match === undefined && isNew === undefined)) return ids
    const free = await FreeIds.open(of, members)
    if (isNew) return newIds(free)
    const member = known(members.find(({ name }) => name === match))
    const { signal } = new AbortController()
    return matchIds({ member, store: of, free, locate, signal })
  }

  async function load(
    results: readonly (RecordValues | string | undefined)[],
    options: LoadOptions = {},
  ) {
    const {
      isDryRun = false,
      apply = (changes, mode) => store.apply(changes, mode),
      ...rest
    } = options
    const reader = isDryRun ? await openReader({ database, lockTimeout: 30_000 }) : undefined
    const dryRun = reader && new DryRun(reader, members)
    async function* batches(): AsyncGenerator<RecordBatch, void> {
      yield { records: results.map((result, at) => ({ number: at + 1, result })), endByte: 1 }
    }
    const reports: string[] = []
    const counts = newCounts()
    const ids = await idsOf(options, reader)
    const isComplete = await importRecords(batches(), {
      store: dryRun ?? { ...importStore(store, members), apply },
      skipsConflicts: isDryRun,
      members,
      onConflict: 'stop',
      onError: 'stop',
      counts,
      locate,
      onRefused: (where, reason) => reports.push(`${where}: ${reason}`),
      onRepeated: (where, message) => reports.push(`${where}: ${message}`),
      onProgress: () => {},
      ...rest,
      ...(ids && { ids }),
    })
    await reader?.close()
    const present = Object.entries(counts).filter(([, count]) => count > 0)
    return { isComplete, counts: Object.fromEntries(present), reports }
  }

  const stored = async () => (await Array.fromAsync(store.exportPlants())).flat()
  /** Asserts that a dry run reports what the import then does, and that the former stores nothing. */
  async function loadPlanned(...given: Parameters<typeof load>) {
    const [results, { onConflict = 'stop', ...options } = {}] = given
    const before = await stored()
    const planned = await load(results, { ...options, onConflict, isDryRun: true })
    t.strictSame(await stored(), before)
    const done = await load(results, { ...options, onConflict })
    t.strictSame(planned, done)
    return done
  }
  return { store, database, load, loadPlanned, stored, idsOf }
}
