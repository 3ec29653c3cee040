import { useEffect, useRef, useState } from 'preact/hooks'
import type { Model } from './model.ts'

/**
 * Renders the calling component again whenever the model changes.
 *
 * @param model undefined if there is none to show
 * @param read what the component shows of the model. While it stays the same, it need not be rendered.
 */
export function useModel<Each extends Model>(
  model: Each | undefined,
  read: (model: Each) => unknown = () => ({}),
): void {
  const [, render] = useState({})
  const readModel = () => model && read(model)
  const shown = readModel()
  const isOutdated = useRef((): boolean => false)
  isOutdated.current = () => readModel() !== shown
  useEffect(
    () =>
      model?.subscribe(() => {
        if (isOutdated.current()) render({})
      }),
    [model],
  )
}
