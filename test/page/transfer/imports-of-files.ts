/** Imports of files as the page does them: compared with the store first. */
import {
  type ChangeCounts,
  createClient,
  type PlantStoreClient,
  type StoredPlant,
} from '../../../client/client.ts'
import type { Intent } from '../../../page/changes/intent.ts'
import { openFile } from '../../../page/transfer/file/import-file.ts'
import { matchKey } from '../../../page/transfer/file/matching.ts'
import { NUMBERED } from '../../../page/transfer/file/numbering.ts'
import { rowReader } from '../../../page/transfer/file/plant-mapper.ts'
import type { Fate } from '../../../page/transfer/import/file-comparison.ts'
import {
  type ConflictChoice,
  type ImportOptions,
  importRecords,
  outcomeOf,
} from '../../../page/transfer/import/import-run.ts'
import { compareFile } from '../../../page/transfer/import/use-comparison.ts'
import type { Service } from '../../helpers/service/service.ts'

interface FileOptions {
  readonly onConflict?: ConflictChoice
  /** The member by which rows are matched. */
  readonly by?: string
  /** The first id of rows that are numbered. */
  readonly from?: bigint
  readonly client?: PlantStoreClient
  readonly canRead?: boolean
  /** Happens after the comparison. */
  readonly between?: () => Promise<unknown>
  readonly onFailure?: ImportOptions['onFailure']
}

/** Compares the text of a file with the store. */
export async function compareText(
  service: Service,
  text: string,
  { by, from, client = createClient(service), canRead = true }: FileOptions = {},
) {
  const source = await openFile(new File([text], 'plants'))
  const id = by === undefined ? from !== undefined && NUMBERED : matchKey(by)
  const mapping = id ? { ...source.guess, id: [id] } : source.guess
  const { signal } = new AbortController()
  return compareFile({ client, canRead }, { source, mapping, from }, signal)
}

/** Imports the text of a file. */
export async function importText(service: Service, text: string, options: FileOptions = {}) {
  const { onConflict = 'update', client = createClient(service), canRead = true } = options
  const { file, mapping, comparison } = await compareText(service, text, options)
  await options.between?.()
  const outcome = outcomeOf(comparison, onConflict)
  const undo: Intent[] = []
  const refused: (readonly [line: number, reason: string, stored?: StoredPlant])[] = []
  let counts: ChangeCounts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
  await importRecords(file.records(), {
    client,
    canRead,
    read: rowReader(mapping, file.format),
    onConflict,
    seen: { different: comparison.different, same: outcome.same },
    chosen: file.chosen,
    signal: new AbortController().signal,
    onChanged: async (intents) => void undo.push(...intents),
    onRefused: ({ record: { number }, reason, stored }) =>
      refused.push(stored === undefined ? [number, reason] : [number, reason, stored]),
    onProgress: (latest) => {
      counts = latest
    },
    onFailure: options.onFailure ?? ((failure) => Promise.reject(failure)),
  })
  const { created, changed, unchanged } = counts
  const fates = Object.entries(outcome.groups).map(([fate, { count }]) => [fate, count])
  return {
    fates: Object.fromEntries(fates) as { readonly [Each in Fate]: number },
    removed: outcome.removed,
    counts: { created, changed, unchanged },
    refused: refused.toSorted(([one], [other]) => one - other),
    undo,
  }
}

export async function storedPlants(service: Service): Promise<readonly StoredPlant[]> {
  return Array.fromAsync(createClient(service).plants())
}
