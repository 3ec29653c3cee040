import { useEffect, useRef, useState } from 'preact/hooks'
import type { Model } from './model.ts'

/**
 * Renders the calling component again whenever the model changes.
 *
 * @param read what the component shows of the model. While it stays the same, it need not be rendered.
 */
export function useModel<Each extends Model>(
  model: Each,
  read: (model: Each) => unknown = () => ({}),
): void {
  const [, render] = useState({})
  const shown = read(model)
  const isOutdated = useRef<() => boolean>(() => false)
  isOutdated.current = () => read(model) !== shown
  useEffect(
    () =>
      model.subscribe(() => {
        if (isOutdated.current()) render({})
      }),
    [model],
  )
}
