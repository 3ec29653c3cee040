import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ConnectionError } from '../../client/client.ts'
import { Dialog } from './dialog.tsx'

/** The writer, and the parts of the page that are loaded once the list is shown. */
type Parts = typeof import('../lazy-parts.ts')

const FAILED =
  'The service could not be reached, or it has another version now. Try again, or reload the page.'

/**
 * Loads what `lazy-parts.ts` has, if it is not loaded yet.
 *
 * @throws ConnectionError
 */
export async function loadParts(): Promise<Parts> {
  try {
    return await import('../lazy-parts.ts')
  } catch (cause) {
    throw new ConnectionError('the page could not be loaded', { cause })
  }
}

/** A part of the page whose code is loaded when it is first shown, so that the page opens faster. */
export function lazy<Props extends object>(
  choose: (parts: Parts) => ComponentType<Props>,
): ComponentType<Props> {
  return function Lazy(props: Props) {
    const { Loaded, hasFailed, load } = useLoaded(choose)
    if (Loaded !== undefined) return <Loaded {...props} />
    if (!hasFailed) return null
    return (
      <div class="empty stack">
        <p role="alert">{FAILED}</p>
        <button type="button" onClick={load}>
          Try again
        </button>
      </div>
    )
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
  const load = () => {
    setFailed(false)
    loadParts().then(
      (parts) => setLoaded(() => choose(parts)),
      () => setFailed(true),
    )
  }
  useEffect(load, [])
  return { Loaded, hasFailed, load }
}
