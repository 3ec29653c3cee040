import { useEffect, useMemo } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import type { Drafts } from '../drafts/drafts.ts'
import { parseFragment } from '../list/filter.ts'
import { PlantView } from '../list/plant-view.ts'
import { browser } from '../list/surroundings.ts'
import { useModel } from '../model/use-model.ts'

/** The plants that the URL's fragment selects, kept up to date if the session permits reading them. */
export function usePlantView({ client, feedClient, canRead }: Session, drafts: Drafts): PlantView {
  const view = useMemo(
    () =>
      new PlantView({
        client,
        feedClient,
        surroundings: browser,
        selection: parseFragment(location.hash),
        onChange: (change) => drafts.observe(change),
      }),
    [client],
  )
  useModel(view)
  useEffect(() => {
    if (canRead) view.follow()
    // The person has opened a bookmark, or edited the URL.
    const navigate = () => view.select(parseFragment(location.hash))
    addEventListener('hashchange', navigate)
    return () => {
      removeEventListener('hashchange', navigate)
      view.close()
    }
  }, [view])
  return view
}
