import { useState } from 'preact/hooks'
import type { BulkChange } from '../changes/intent.ts'
import type { Operation, UndoLog } from '../changes/undo-log.ts'
import type { Drafts, Saver } from '../drafts/drafts.ts'

/** What a dialog carries out: a change of many plants, or its opposite. */
export type Run = { readonly change: BulkChange } | { readonly operation: Operation }

/**
 * Changes many plants, and takes operations back: that of one plant like any change of a plant, and others in a dialog.
 *
 * @param focus focuses a plant
 */
export function useRuns(log: UndoLog, drafts: Drafts, saver: Saver, focus: (id?: bigint) => void) {
  const [run, setRun] = useState<Run>()
  const undo = async (key: number) => {
    const operation = log.find(key)
    if (operation === undefined) return
    if (operation.count > 1) {
      setRun({ operation })
      return
    }
    // Its dialog would cover what becomes of the plant.
    setRun(undefined)
    try {
      for await (const intent of log.intents(operation)) {
        const draft = drafts.of(intent.id)
        if (draft !== undefined) {
          // The person decides first what becomes of it.
          drafts.openDraft(draft.key)
          return
        }
        await log.remove(key)
        await drafts.carryOut(intent, saver, { isUndo: true })
        focus(intent.id)
      }
    } catch {
      // The dialog says why.
      setRun({ operation })
    }
  }
  return {
    run,
    undo,
    start: (change: BulkChange) => setRun({ change }),
    close: () => {
      setRun(undefined)
      focus()
    },
  }
}
