import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { loadParts, type Parts } from './parts.ts'

const FAILED =
  'The service could not be reached, or it has another version now. Try again, or reload the page.'

/** A part of the page whose code is loaded when it is first shown, so that the page opens faster. */
export function lazy<Props extends object>(
  choose: (parts: Parts) => ComponentType<Props>,
): ComponentType<Props> {
  return function Lazy(props: Props) {
    const { Loaded, hasFailed } = useLoaded(choose)
    if (Loaded !== undefined) return <Loaded {...props} />
    return <p role="alert">{hasFailed && FAILED}</p>
  }
}

/** The same for a dialog. */
export function lazyDialog<Props extends { readonly onClose: () => void }>(
  choose: (parts: Parts) => ComponentType<Props>,
): ComponentType<Props> {
  return function LazyDialog(props: Props) {
    const { Loaded, hasFailed } = useLoaded(choose)
    if (Loaded !== undefined) return <Loaded {...props} />
    return (
      <Dialog title={hasFailed ? 'This could not be opened' : 'Opening…'} onClose={props.onClose}>
        <p role="alert">{hasFailed && FAILED}</p>
        <footer>
          <button type="button" onClick={props.onClose}>
            Close
          </button>
        </footer>
      </Dialog>
    )
  }
}

function useLoaded<Props>(choose: (parts: Parts) => ComponentType<Props>) {
  const [Loaded, setLoaded] = useState<ComponentType<Props>>()
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    loadParts().then(
      (parts) => setLoaded(() => choose(parts)),
      () => setFailed(true),
    )
  }, [])
  return { Loaded, hasFailed }
}
