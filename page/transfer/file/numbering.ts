import type { PlantStoreClient, StoredPlant } from '../../../client/client.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import { hasCells } from '../../../core/files/formats.ts'
import { PAGE_SIZE } from '../../changes/find-plants.ts'
import { idBefore } from '../../list/plant-id.ts'
import type { ImportFile } from './import-file.ts'

/** The key of ids that the page chooses. No column of CSV has it, and hardly a member of JSON. */
export const NUMBERED = '\0id'

/** The ids that the page has chosen for new plants. */
export interface ChosenIds {
  readonly has: (id: bigint) => boolean
  /** Begins to choose others, if somebody else has used some meanwhile. */
  readonly more: (signal: AbortSignal) => AsyncIterator<bigint>
}

/** A file whose records have ids. */
export interface IdentifiedFile extends ImportFile {
  readonly chosen?: ChosenIds
  /** Stored plants that were read to find ids, by these. */
  readonly known?: ReadonlyMap<bigint, StoredPlant>
}

/** A record with an id that the page has found or chosen. */
export function withId(
  record: FileRecord,
  id: bigint,
  format: ImportFile['format'],
  key = NUMBERED,
): FileRecord {
  const value = hasCells(format) ? String(id) : id
  return { ...record, values: { ...record.values, [key]: value } }
}

/**
 * Numbers the records of a file. Leaves out the ids of the plants that are stored when the records are read for the
 * first time. Later, the records have the same ids again.
 *
 * @param from the first id
 * @param client undefined with a token that cannot read, which leaves out none
 */
export function numberFile(
  file: ImportFile,
  from: bigint,
  client: Pick<PlantStoreClient, 'plants'> | undefined,
  signal?: AbortSignal,
): IdentifiedFile {
  const taken = new Set<bigint>()
  let isFirst = true
  let last = from - 1n
  async function* choose(ids: AsyncIterable<bigint>) {
    for await (const id of ids) {
      if (id > last) last = id
      yield id
    }
  }
  return {
    ...file,
    isNumbered: true,
    chosen: { has: () => true, more: (signal) => choose(findFree(last + 1n, client, { signal })) },
    records(onRead) {
      const ids = isFirst ? findFree(from, client, { signal, taken }) : skip(from, taken)
      isFirst = false
      return numberRecords(file, file.records(onRead), choose(ids))
    },
  }
}

async function* numberRecords(
  { format }: ImportFile,
  records: AsyncIterable<FileRecord>,
  ids: AsyncIterator<bigint>,
): AsyncGenerator<FileRecord, void> {
  for await (const record of records) {
    const { value } = await ids.next()
    yield withId(record, value, format)
  }
}

/**
 * Yields free ids, and collects those between them.
 *
 * @param client undefined with a token that cannot read, to which all ids seem free
 */
export async function* findFree(
  from: bigint,
  client: Pick<PlantStoreClient, 'plants'> | undefined,
  { signal, taken }: { signal?: AbortSignal | undefined; taken?: Set<bigint> } = {},
): AsyncGenerator<bigint, void> {
  let id = from
  const after = idBefore(from)
  const query = { pageSize: PAGE_SIZE, ...(after !== undefined && { after }) }
  for await (const plant of client?.plants(query, signal && { signal }) ?? []) {
    for (; id < plant.id; id++) yield id
    taken?.add(plant.id)
    id = plant.id + 1n
  }
  for (; ; id++) yield id
}

async function* skip(from: bigint, taken: ReadonlySet<bigint>): AsyncGenerator<bigint, void> {
  for (let id = from; ; id++) if (!taken.has(id)) yield id
}
