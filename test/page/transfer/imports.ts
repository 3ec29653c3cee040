/** Imports of records, and what they report. */
import type { Test } from 'tap'
import {
  type ChangeCounts,
  createClient,
  type NewPlant,
  type StoredPlant,
} from '../../../client/client.ts'
import type { Mapping } from '../../../core/files/columns.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { Format } from '../../../core/files/formats.ts'
import { plantOf, rowReader } from '../../../page/transfer/file/plant-mapper.ts'
import { type ImportOptions, importRecords } from '../../../page/transfer/import/import-run.ts'
import { mappingOf } from '../../core/files/mapping.ts'
import type { Service } from '../../helpers/service/service.ts'

export const TAKEN = 'A different plant has this id'

export const read = rowReader(mappingOf({ id: 'id', name: 'name', tag: 'tag' }), 'ndjson')

/** Turns a record into a plant, or says why that is impossible. */
export function plantMapper(
  mapping: Mapping,
  format: Format,
): (record: FileRecord) => NewPlant | string {
  const read = rowReader(mapping, format)
  return (record) => {
    const row = read(record)
    return typeof row === 'string' ? row : plantOf(row)
  }
}

export type Values = FileRecord['values'] & Partial<NewPlant>

/** Records, of which the last one is followed by an error if there is one. */
export async function* recordsOf(
  records: readonly Values[],
  error?: Error,
): AsyncGenerator<FileRecord, void> {
  for (const [index, values] of records.entries()) yield { number: index + 1, values }
  if (error !== undefined) throw error
}

interface Options extends Partial<Omit<ImportOptions, 'seen'>> {
  /** The plants that the person has seen. */
  readonly seen?: readonly StoredPlant[]
  /** The numbers of the records that were found stored. */
  readonly same?: readonly number[]
  /** What follows the last record. */
  readonly end?: Error
}

/** Imports records, and checks that the counts add up unless the import ends early. */
export async function importAll(
  t: Test,
  service: Service,
  records: readonly Values[],
  { seen = [], same = [], end, ...options }: Options = {},
) {
  const refused: (readonly [number, string, StoredPlant | undefined])[] = []
  const progress: ChangeCounts[] = []
  let error: unknown
  const different = new Map(seen.map((plant) => [plant.id, plant]))
  try {
    await importRecords(recordsOf(records, end), {
      client: createClient(service),
      canRead: true,
      read,
      onConflict: 'keep',
      seen: { different, same: new Set(same) },
      onChanged: async () => {},
      signal: new AbortController().signal,
      onRefused: ({ record: { number }, reason, stored }) => refused.push([number, reason, stored]),
      onProgress: (counts) => progress.push(counts),
      onFailure: (failure) => Promise.reject(failure),
      ...options,
    })
  } catch (reason) {
    error = reason
  }
  const { created = 0, changed = 0, unchanged = 0 } = progress.at(-1) ?? {}
  const total = created + changed + unchanged + refused.length
  if (error === undefined) t.equal(total, records.length, 'each record is counted once')
  return { created, replaced: changed, unchanged, refused, progress, error }
}
