import { useEffect, useState } from 'preact/hooks'
import type { Mapping } from '../../../core/files/columns.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { counted } from '../../../core/files/formats.ts'
import { plantMapper } from '../../../page/transfer/file/plant-mapper.ts'
import type { Session } from '../../access/session.ts'
import { explain } from '../../errors/error-text.ts'
import type { ImportFile } from '../file/import-file.ts'
import { type Comparison, compareRecords } from './file-comparison.ts'

/** Compares a file with the store. The comparison ends with the component. */
export function useComparison({ client, canRead }: Session, file: ImportFile, mapping: Mapping) {
  /** How much of the file has been read. */
  const [bytes, setBytes] = useState(0)
  const [comparison, setComparison] = useState<Comparison>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    compareRecords(file.records(setBytes), {
      client,
      canRead,
      toPlant: plantMapper(mapping, file.format),
      counted: counted[file.format],
      signal,
    }).then(setComparison, (error) => {
      if (signal.aborted) return
      setProblem(error instanceof FileProblem ? error.message : explain(error))
    })
    return () => controller.abort()
  }, [])
  return { bytes, comparison, problem }
}
