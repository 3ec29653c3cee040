import { useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { explain } from '../errors/error-text.ts'
import { toFields } from '../model/current-members.ts'
import { useModel } from '../model/use-model.ts'
import { ChangeRun } from './change-run.ts'
import type { BulkChange, Intent } from './intent.ts'
import { RefusedPlants } from './refused-plants.ts'
import { RunDialog, type RunWords } from './run-dialog.tsx'
import { type Announcement, ForgottenError, type Operation, type UndoLog } from './undo-log.ts'
import { type OnBegin, useRun } from './use-run.ts'

const COUNTS: RunWords['counts'] = [
  ['created', 'Added'],
  ['changed', 'Changed'],
  ['removed', 'Deleted'],
  ['unchanged', 'Unchanged'],
]

export interface ProgressProps {
  readonly session: Session
  readonly log: UndoLog
  readonly onBegin: OnBegin
  readonly onClose: () => void
}

/** Carries out changes to many plants, then shows what became of them. */
export function ChangeProgress({
  session,
  log,
  change: { title, intents },
  onUndo,
  ...rest
}: ProgressProps & {
  readonly change: BulkChange
  /** Takes an operation back. */
  readonly onUndo: (key: number) => void
}) {
  useModel(log)
  const [operation] = useState(() => log.begin(title))
  return (
    <Progress
      {...rest}
      {...{ session, log, intents }}
      done={{ title, operation }}
      count={intents.length}
      words={{ title, noun: 'Change', refused: 'not changed' }}
      onUndo={log.find(operation)?.count ? () => onUndo(operation) : undefined}
      record={(undo, unknown) => log.add(operation, undo, unknown)}
      areAlike
    />
  )
}

/** Takes back an operation that changed many plants. What others have changed since stays, and is listed. */
export function UndoProgress({
  session,
  log,
  operation,
  ...rest
}: ProgressProps & { readonly operation: Operation }) {
  const { key, title, label, count } = operation
  const what = label === undefined ? title : `${title} ${label}`
  return (
    <Progress
      {...rest}
      {...{ session, log, count }}
      intents={log.intents(operation)}
      done={{ title: `Undone: ${what}` }}
      words={{ title: `Undoing: ${what}`, noun: 'Undo', refused: 'not undone' }}
      onEnd={() => log.remove(key)}
    />
  )
}

function Progress({
  session,
  log,
  intents,
  count,
  done,
  words,
  record = async () => {},
  areAlike = false,
  onEnd,
  onBegin,
  onClose,
  onUndo,
}: ProgressProps & {
  readonly intents: Iterable<Intent> | AsyncIterable<Intent>
  readonly count: number
  /** What to tell the person once all is done. */
  readonly done: Announcement
  readonly words: Pick<RunWords, 'title' | 'noun' | 'refused'>
  readonly record?: (undo: readonly Intent[], unknown: number) => Promise<void>
  /** Whether all plants get the same value. */
  readonly areAlike?: boolean
  /** Called when the run has reached its end, or cannot begin again. */
  readonly onEnd?: () => Promise<void>
  readonly onUndo?: (() => void) | undefined
}) {
  const [refused] = useState(() => new RefusedPlants())
  const [begun, setBegun] = useState(0)
  const run = useRun(
    session,
    'The changes that were being made have stopped. You can undo those that were made.',
    async ({ onProgress, ...controls }) => {
      let added = 0
      const changes = new ChangeRun<Intent>({
        ...controls,
        areAlike,
        onChanged: record,
        onProgress: (counts) => {
          setBegun(added)
          onProgress(counts)
        },
        onRefused: ({ intent: { id, before, after }, ...rest }) => {
          const plant = { name: '', ...(after ?? before), id }
          refused.add({ fields: toFields(plant), isDeletion: after === undefined, ...rest })
        },
      })
      try {
        for await (const intent of intents) {
          added += 1
          await changes.add(intent)
        }
        await changes.flush()
      } catch (error) {
        if (error instanceof ForgottenError) await onEnd?.()
        throw error
      }
      await onEnd?.()
    },
    {
      explainEnd: (error) => (error instanceof ForgottenError ? error.message : explain(error)),
      onBegin,
      onFinished: ({ created, changed, removed, unchanged }) => {
        if (refused.count > 0) return
        log.announce({ ...done, count: created + changed + removed, unchanged })
        onClose()
      },
    },
  )
  return (
    <RunDialog
      words={{
        ...words,
        counts: COUNTS.filter(([name]) => run.counts[name] > 0),
        item: 'plant',
        wanted: 'Wanted',
        canceled:
          'What was changed until then stays changed, and the list that was being sent may be too.',
        file: 'plants',
      }}
      progress={{ value: begun, max: count }}
      {...{ run, refused, onClose, onUndo }}
    />
  )
}
