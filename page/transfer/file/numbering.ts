import type { PlantStoreClient } from '../../../client/client.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import { hasCells } from '../../../core/files/formats.ts'
import { idBefore } from '../../list/plant-id.ts'
import type { ImportFile } from './import-file.ts'

/** The key of ids that the page chooses. No column of CSV has it, and hardly a member of JSON. */
export const NUMBERED = '\0id'

const PAGE_SIZE = 1000

/** A record with an id that the page chooses. */
export function withId(record: FileRecord, id: bigint, format: ImportFile['format']): FileRecord {
  const value = hasCells(format) ? String(id) : id
  return { ...record, values: { ...record.values, [NUMBERED]: value } }
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
): ImportFile {
  const taken = new Set<bigint>()
  let isFirst = client !== undefined
  return {
    ...file,
    isNumbered: true,
    records(onRead) {
      const ids =
        client !== undefined && isFirst ? findFree(from, client, taken) : skip(from, taken)
      isFirst = false
      return numberRecords(file, file.records(onRead), ids)
    },
  }
}

async function* numberRecords(
  { format }: ImportFile,
  records: AsyncIterable<FileRecord>,
  ids: AsyncIterator<bigint> | Iterator<bigint>,
): AsyncGenerator<FileRecord, void> {
  for await (const record of records) {
    const { value } = await ids.next()
    yield withId(record, value, format)
  }
}

/** Yields free ids, and collects those between them. */
async function* findFree(
  from: bigint,
  client: Pick<PlantStoreClient, 'plants'>,
  taken: Set<bigint>,
): AsyncGenerator<bigint, void> {
  let id = from
  const after = idBefore(from)
  const query = { pageSize: PAGE_SIZE, ...(after !== undefined && { after }) }
  for await (const plant of client.plants(query)) {
    for (; id < plant.id; id++) yield id
    taken.add(plant.id)
    id = plant.id + 1n
  }
  for (; ; id++) yield id
}

function skip(from: bigint, taken: ReadonlySet<bigint>): Iterator<bigint> {
  let id = from - 1n
  return {
    next: () => {
      do id++
      while (taken.has(id))
      return { value: id, done: false }
    },
  }
}
