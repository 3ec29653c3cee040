import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../client/client.ts'
import { type ExportFormat, ExportProblem } from '../../core/files/record-formats.ts'
import { download } from '../dialog/download.ts'
import { explain, toSentence } from '../errors/error-text.ts'
import type { Filter } from '../list/filter.ts'
import { exportName, exportPlants } from './export-run.ts'

/** Exports the plants that a filter selects, and saves them as a download. The export ends with the component. */
export function useExport(client: PlantStoreClient, filter: Filter, format: ExportFormat) {
  /** Aborts the export. Undefined unless one is running. */
  const [run, setRun] = useState<AbortController>()
  /** The number of plants so far. */
  const [plants, setPlants] = useState(0)
  const [problem, setProblem] = useState<string>()
  /** The name of the file. */
  const [saved, setSaved] = useState<string>()
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
      const name = exportName(format, filter, new Date())
      download(content, name)
      setSaved(name)
    } catch (error) {
      if (!signal.aborted) setProblem(describe(error))
    }
    setRun(undefined)
  }
  return { run, plants, problem, saved, start }
}

function describe(error: unknown): string {
  return error instanceof ExportProblem ? toSentence(error.message) : explain(error)
}
