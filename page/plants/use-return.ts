import { useEffect, useRef } from 'preact/hooks'
import type { PlantView } from '../list/plant-view.ts'

/** Calls a function when a lost connection is back. */
export function useReturn({ feed: { state } }: PlantView, onReturn: () => unknown): void {
  const wasLost = useRef(false)
  useEffect(() => {
    if (state === 'live' && wasLost.current) onReturn()
    wasLost.current = state === 'lost'
  }, [state])
}
