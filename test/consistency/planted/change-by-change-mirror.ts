/** `plant-store mirror` with a fault: it applies one change of a list at a time. */
import { runFaulty } from './faulty-mirror.ts'

await runFaulty({
  readChanges: (source) => async (after, wait) => {
    const page = await source.readChanges(after, wait)
    const [first] = page.changes
    if (first === undefined) return page
    return { changes: [{ ...first, endsTransaction: true }], cursor: first.cursor }
  },
})
