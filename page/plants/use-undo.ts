import { useState } from 'preact/hooks'
import type { Operation, UndoLog } from '../changes/undo-log.ts'
import type { Drafts, Saver } from '../drafts/drafts.ts'

/**
 * Takes operations back: that of one plant like any change of a plant, and others in a dialog.
 *
 * @param focus focuses a plant
 */
export function useUndo(log: UndoLog, drafts: Drafts, saver: Saver, focus: (id: bigint) => void) {
  /** The operation that the dialog takes back. */
  const [operation, setOperation] = useState<Operation>()
  const undo = async (key: number) => {
    const found = log.find(key)
    if (found === undefined) return
    if (found.count > 1) {
      setOperation(found)
      return
    }
    for await (const intent of log.intents(found)) {
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
  }
  return { undo, operation, close: () => setOperation(undefined) }
}
