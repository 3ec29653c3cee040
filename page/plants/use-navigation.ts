import { useEffect, useRef } from 'preact/hooks'
import type { PlantStoreClient } from '../../client/client.ts'
import { isSameSearch, type ListQuery, toFragment, withFilter } from '../list/filter.ts'
import { findLastPlants } from '../list/last-plants.ts'
import type { PlantView } from '../list/plant-view.ts'

/**
 * Shows other plants, each query as an entry of the browser's history, and the two ends of a list.
 *
 * @param focus focuses the first or the last plant once it is loaded
 */
export function useNavigation(
  client: PlantStoreClient,
  view: PlantView,
  focus: (edge: 'first' | 'last') => void,
) {
  const search = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => search.current?.abort(), [view])

  const show = (query: ListQuery) => {
    search.current?.abort()
    const { query: earlier } = view
    const url = toFragment(query)
    // While a person types, the history gets one entry.
    const isSameEntry = url === toFragment(earlier) || isSameSearch(earlier, query)
    if (isSameEntry) history.replaceState(null, '', url)
    else history.pushState(null, '', url)
    view.show(query)
  }
  const showFirst = () => {
    show(withFilter(view.query, view.query.filter))
    focus('first')
  }
  const showLast = async () => {
    const { filter } = view.query
    search.current?.abort()
    const controller = new AbortController()
    search.current = controller
    try {
      const [first] = await findLastPlants(client, filter, controller.signal)
      if (first === undefined || view.query.filter !== filter) return
      show({ filter, first: first.id })
      focus('last')
    } catch {
      // The person has gone elsewhere, or the table says what is wrong.
    }
  }
  return { show, showFirst, showLast }
}
