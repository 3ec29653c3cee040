import { useEffect, useRef } from 'preact/hooks'
import type { PlantView } from '../list/plant-view.ts'

/** Calls a function when a lost connection is back. */
export function useReconnect({ feed: { state } }: PlantView, onReconnect: () => unknown): void {
  const wasLost = useRef(false)
  useEffect(() => {
    if (state === 'live' && wasLost.current) onReconnect()
    wasLost.current = state === 'lost'
  }, [state])
}
