import { useEffect, useState } from 'preact/hooks'
import type { Model } from './model.ts'

/** Renders the calling component again whenever the model changes. */
export function useModel(model: Model): void {
  const [, setVersion] = useState(0)
  useEffect(() => model.subscribe(() => setVersion((version) => version + 1)), [model])
}
