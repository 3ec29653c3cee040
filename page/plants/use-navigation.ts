import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../client/client.ts'
import { isSameSearch, type Selection, toFragment, withFilter } from '../list/filter.ts'
import { findLastPlants } from '../list/last-plants.ts'
import type { PlantView } from '../list/plant-view.ts'

/**
 * Selects plants, each selection as an entry of the browser's history, and the two ends of a list.
 *
 * @param focus focuses a plant
 */
export function useNavigation(
  client: PlantStoreClient,
  view: PlantView,
  focus: (id: bigint) => void,
) {
  /** The row to focus once it is loaded. */
  const [wanted, setWanted] = useState<'first' | 'last'>()
  const search = useRef<AbortController | undefined>(undefined)

  const select = (selection: Selection) => {
    search.current?.abort()
    setWanted(undefined)
    const { selection: earlier } = view
    const url = toFragment(selection)
    // While a person types, the history gets one entry.
    const isSameEntry = url === toFragment(earlier) || isSameSearch(earlier, selection)
    if (isSameEntry) history.replaceState(null, '', url)
    else history.pushState(null, '', url)
    view.select(selection)
  }
  const showFirst = () => {
    select(withFilter(view.selection, view.selection.filter))
    setWanted('first')
  }
  const showLast = async () => {
    const { filter } = view.selection
    search.current?.abort()
    const controller = new AbortController()
    search.current = controller
    try {
      const [first] = await findLastPlants(client, filter, controller.signal)
      if (first === undefined || view.selection.filter !== filter) return
      select({ filter, first: first.id })
      setWanted('last')
    } catch {
      // The person has gone elsewhere, or the table says what is wrong.
    }
  }

  useEffect(() => () => search.current?.abort(), [view])
  const { list } = view
  const row = wanted === 'last' ? list.length - 1 : 0
  const plant = wanted === 'last' && !list.isComplete ? undefined : list.slice(row, row + 1)[0]
  useEffect(() => {
    if (wanted === undefined || plant === undefined) return
    setWanted(undefined)
    focus(plant.id)
  }, [wanted, plant])
  return { select, showFirst, showLast }
}
