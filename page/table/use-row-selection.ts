import type { PlantSelection } from '../selection/plant-selection.ts'

/**
 * Handlers of the mouse events of the element with the rows. They select plants.
 *
 * @param selection undefined if nobody can select plants
 */
export function useRowSelection(selection: PlantSelection | undefined) {
  if (selection === undefined) return {}
  return {
    onMouseDown: (event: MouseEvent) => {
      const { target, shiftKey } = event
      const isOnRow = target instanceof Element && target.closest('.plant-row') !== null
      // Otherwise, the browser selects the text of all rows in between.
      if (isOnRow && shiftKey) event.preventDefault()
    },
    onClick: ({ target, shiftKey }: MouseEvent) => {
      const cell = target instanceof Element ? target.closest('.select-cell') : null
      const box = cell?.querySelector('input')
      const id = cell?.closest<HTMLElement>('.plant-row')?.dataset.id
      if (!box || id === undefined) return
      box.focus({ preventScroll: true })
      if (shiftKey) selection.extend(BigInt(id))
      else selection.toggle(BigInt(id))
    },
  }
}
