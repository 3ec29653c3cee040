import { useEffect, useState } from 'preact/hooks'
import { NO_COUNTS } from '../../client/batches.ts'
import type { ChangeCounts } from '../../client/client.ts'
import type { Session } from '../access/session.ts'
import { explain } from '../errors/error-text.ts'
import type { ChangeOptions } from './change-run.ts'
import type { Intent } from './intent.ts'

/** What a run gets from the dialog that shows it. */
export type RunControls = Pick<
  ChangeOptions<Intent>,
  'client' | 'canRead' | 'signal' | 'onProgress' | 'onFailure'
>

/** Why a run waits for the person, and how it continues. */
interface Pause {
  readonly problem: string
  readonly resume: () => void
}

/** Called when a run begins. Returns what is called when it ends. */
export type OnBegin = () => () => void

export type RunState = ReturnType<typeof useRun>

/**
 * Runs something that changes many plants. It ends with the component.
 *
 * @param interruption what to tell the person if the session ends meanwhile
 * @param run is called once
 * @param explainEnd explains an error that ends the run
 */
export function useRun(
  session: Session,
  interruption: string,
  run: (controls: RunControls) => Promise<void>,
  {
    explainEnd = explain,
    onBegin,
    onFinished,
  }: {
    readonly explainEnd?: typeof explain
    readonly onBegin?: OnBegin | undefined
    /** Called with what was counted, unless the run was canceled or has failed. */
    readonly onFinished?: (counts: ChangeCounts) => void
  },
) {
  const [controller] = useState(() => new AbortController())
  const [counts, setCounts] = useState(NO_COUNTS)
  const [pause, setPause] = useState<Pause>()
  const [end, setEnd] = useState<'finished' | 'canceled' | { readonly problem: string }>()

  useEffect(() => {
    const { signal } = controller
    const waitForPerson = (error: unknown) =>
      new Promise<void>((resolve, reject) => {
        const resume = () => {
          setPause(undefined)
          resolve()
        }
        signal.addEventListener('abort', () => reject(signal.reason))
        setPause({ problem: explain(error), resume })
      })
    const { client, canRead } = session
    const onEnd = onBegin?.()
    session.interruption = interruption
    // Closing the tab would end the run.
    window.addEventListener('beforeunload', preventDefault)
    let latest = NO_COUNTS
    const onProgress = (counts: ChangeCounts) => {
      latest = counts
      setCounts(counts)
    }
    run({ client, canRead, signal, onProgress, onFailure: waitForPerson })
      .then(
        () => {
          setEnd('finished')
          onFinished?.(latest)
        },
        (error) => setEnd(signal.aborted ? 'canceled' : { problem: explainEnd(error) }),
      )
      .finally(() => {
        session.interruption = undefined
        window.removeEventListener('beforeunload', preventDefault)
        onEnd?.()
      })
    return () => controller.abort()
  }, [])
  return { counts, pause, end, cancel: () => controller.abort() }
}

function preventDefault(event: Event): void {
  event.preventDefault()
}
