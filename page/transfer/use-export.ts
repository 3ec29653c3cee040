import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../client/client.ts'
import { explain } from '../errors/error-text.ts'
import type { Filter } from '../list/filter.ts'
import { download } from './download.ts'
import { type ExportFormat, exportFormats, exportPlants } from './export-run.ts'

/** Exports the plants that a filter selects, and saves them as a download. The export ends with the component. */
export function useExport(client: PlantStoreClient, filter: Filter, format: ExportFormat) {
  /** Aborts the export. Undefined unless one is running. */
  const [run, setRun] = useState<AbortController>()
  /** The number of plants so far. */
  const [plants, setPlants] = useState(0)
  const [problem, setProblem] = useState<string>()
  const [savedName, setSavedName] = useState<string>()
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
      const content = await exportPlants(client, filter, format, { signal, onProgress: setPlants })
      const name = `plants.${exportFormats[format].extension}`
      download(content, name)
      setSavedName(name)
    } catch (error) {
      if (!signal.aborted) setProblem(explain(error))
    }
    setRun(undefined)
  }
  return { run, plants, problem, savedName, start }
}
