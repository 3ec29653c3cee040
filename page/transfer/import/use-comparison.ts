import { useEffect, useState } from 'preact/hooks'
import type { Mapping } from '../../../core/files/columns.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { counted } from '../../../core/files/formats.ts'
import { nounOf } from '../../../core/files/plant-file.ts'
import { damageFinder } from '../../../core/files/record-mapper.ts'
import type { Session } from '../../access/session.ts'
import { explain } from '../../errors/error-text.ts'
import { members } from '../../model/current-members.ts'
import type { ImportFile } from '../file/import-file.ts'
import { matchedMember, matchFile } from '../file/matching.ts'
import { type IdentifiedFile, numberFile } from '../file/numbering.ts'
import { rowReader } from '../file/plant-mapper.ts'
import { type Comparison, compareRecords } from './file-comparison.ts'

type Reader = Pick<Session, 'client' | 'canRead'>

/** A file that is to be imported. */
export interface MappedFile {
  readonly source: ImportFile
  readonly mapping: Mapping
  /** The first id of records that are to be numbered. */
  readonly from?: bigint | undefined
}

/** A file that was compared with the store. */
export interface ComparedFile {
  readonly file: IdentifiedFile
  readonly mapping: Mapping
  readonly comparison: Comparison
  /** Sentences about the damage that programs have probably done to the file before. */
  readonly damage: readonly string[]
}

/** Compares a file with the store. The comparison ends with the component. */
export function useComparison(session: Session, mapped: MappedFile) {
  /** How much of the file has been read. */
  const [bytes, setBytes] = useState(0)
  const [compared, setCompared] = useState<ComparedFile>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    compareFile(session, mapped, signal, setBytes).then(setCompared, (error) => {
      if (signal.aborted) return
      setProblem(error instanceof FileProblem ? error.message : explain(error))
    })
    return () => controller.abort()
  }, [])
  return { bytes, compared, problem }
}

/** @throws FileProblem, the reason of the signal, and what the client throws */
export async function compareFile(
  session: Reader,
  mapped: MappedFile,
  signal: AbortSignal,
  onRead?: (bytes: number) => void,
): Promise<ComparedFile> {
  const { client, canRead } = session
  const { mapping } = mapped
  const file = await identify(session, mapped, signal)
  const damage = damageFinder(members, mapping)
  const read = rowReader(mapping, file.format)
  const comparison = await compareRecords(file.records(onRead), {
    client,
    canRead,
    read: (record) => {
      damage.note(record)
      return read(record)
    },
    counted: counted[file.format],
    known: file.known,
    signal,
  })
  return { file, mapping, comparison, damage: damage.describe(nounOf(file.format)) }
}

/** Gives the records ids if they have none. */
async function identify(
  { client, canRead }: Reader,
  { source, mapping, from }: MappedFile,
  signal: AbortSignal,
): Promise<IdentifiedFile> {
  if (from !== undefined) return numberFile(source, from, canRead ? client : undefined, signal)
  const member = matchedMember(mapping)
  return member === undefined ? source : matchFile(source, mapping, member, { client, signal })
}
