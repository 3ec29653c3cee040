import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'

/** A dialog whose code is loaded when it is first opened, so that the page opens faster. */
export function lazyDialog<Props extends { readonly onClose: () => void }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function LazyDialog(props: Props) {
    const [Loaded, setLoaded] = useState<ComponentType<Props>>()
    const [hasFailed, setFailed] = useState(false)
    useEffect(() => {
      load().then(
        (loaded) => setLoaded(() => loaded),
        () => setFailed(true),
      )
    }, [])
    if (Loaded !== undefined) return <Loaded {...props} />
    return (
      <Dialog title={hasFailed ? 'This could not be opened' : 'Opening…'} onClose={props.onClose}>
        <p role="alert">
          {hasFailed &&
            'The service could not be reached, or it has another version now. Try again, or reload the page.'}
        </p>
        <footer>
          <button type="button" onClick={props.onClose}>
            Close
          </button>
        </footer>
      </Dialog>
    )
  }
}
