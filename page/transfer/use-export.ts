import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../client/client.ts'
import type { Separator } from '../../core/files/record-formats.ts'
import { download } from '../dialog/download.ts'
import { explain } from '../errors/error-text.ts'
import type { Filter } from '../list/filter.ts'
import { type Export, type ExportFormat, exportName, exportPlants } from './export-run.ts'

/** Exports the plants that a filter selects, and saves them as a download. The export ends with the component. */
export function useExport(
  client: PlantStoreClient,
  filter: Filter,
  format: ExportFormat,
  separator: Separator,
) {
  /** Aborts the export. Undefined unless one is running. */
  const [run, setRun] = useState<AbortController>()
  /** The number of plants so far. */
  const [plants, setPlants] = useState(0)
  const [problem, setProblem] = useState<string>()
  const [saved, setSaved] = useState<Export & { readonly name: string }>()
  const running = useRef(run)
  running.current = run
  useEffect(() => () => running.current?.abort(), [])

  const start = async () => {
    const controller = new AbortController()
    const { signal } = controller
    setRun(controller)
    setPlants(0)
    setProblem(undefined)
    try {
      const options = { separator, signal, onProgress: setPlants }
      const file = await exportPlants(client, filter, format, options)
      const name = exportName(format, filter, new Date())
      download(file.content, name)
      setSaved({ ...file, name })
    } catch (error) {
      if (!signal.aborted) setProblem(explain(error))
    }
    setRun(undefined)
  }
  return { run, plants, problem, saved, start }
}
