import { useEffect, useMemo } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import type { Drafts } from '../drafts/drafts.ts'
import { parseFragment } from '../list/filter.ts'
import { PlantView } from '../list/plant-view.ts'
import { browser } from '../list/surroundings.ts'

/**
 * The plants that the URL's fragment selects, kept up to date if the session permits reading them.
 *
 * @param onReconnect called when a lost connection is back
 */
export function usePlantView(
  { client, feedClient, canRead, canWrite }: Session,
  drafts: Drafts,
  onReconnect: () => void,
): PlantView {
  const view = useMemo(
    () =>
      new PlantView({
        client,
        feedClient,
        surroundings: browser,
        query: parseFragment(location.hash),
        onChange: (change) => drafts.observe(change),
      }),
    [client],
  )
  useEffect(() => {
    if (canRead) view.follow()
    // The person has opened a bookmark, or edited the URL.
    const navigate = () => view.show(parseFragment(location.hash))
    addEventListener('hashchange', navigate)
    return () => {
      removeEventListener('hashchange', navigate)
      view.close()
    }
  }, [view])
  useEffect(() => {
    let wasLost = false
    return view.feed.subscribe(() => {
      const { state } = view.feed
      if (state === 'live' && wasLost && canWrite) onReconnect()
      wasLost = state === 'lost'
    })
  }, [view])
  return view
}
