import { useEffect, useState } from 'preact/hooks'
import type { PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { explain } from '../errors/error-text.ts'
import type { Filter } from '../list/filter.ts'
import type { IdRanges } from './id-ranges.ts'
import { readSelected, TooManyPlants } from './read-selected.ts'

/** Reads the selected plants of a filter. Reading ends with the component. */
export function useSelectedPlants(client: PlantStoreClient, filter: Filter, ranges: IdRanges) {
  /** How many have been read so far. */
  const [count, setCount] = useState(0)
  const [plants, setPlants] = useState<readonly StoredPlant[]>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    readSelected(client, filter, ranges, { signal, onProgress: setCount }).then(
      setPlants,
      (error) => {
        if (signal.aborted) return
        setProblem(error instanceof TooManyPlants ? error.message : explain(error))
      },
    )
    return () => controller.abort()
  }, [])
  return { count, plants, problem }
}
