import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { PlantView } from '../list/plant-view.ts'

/**
 * Holds rows where they are while a person points at them.
 *
 * @returns handlers of the pointer events of the element with the rows
 */
export function useHold(view: PlantView, rowGroup: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const release = ({ target }: PointerEvent) => {
      if (!(target instanceof Node && rowGroup.current?.contains(target))) view.hold(false)
    }
    addEventListener('pointerdown', release)
    return () => removeEventListener('pointerdown', release)
  }, [view])
  return {
    onPointerEnter: () => view.hold(true),
    onPointerLeave: ({ pointerType }: PointerEvent) => {
      // A finger leaves the screen after each tap, and usually comes back to the same place.
      if (pointerType !== 'touch') view.hold(false)
    },
  }
}
