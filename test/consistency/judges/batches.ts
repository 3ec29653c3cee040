/**
 * Whether a page that shows one plant of a batch shows the others too, unless they can have changed since.
 *
 * The register of each plant already knows that a batch has happened; this judge compares plants with each other. A
 * page is read at one moment, so if it has a content that only one batch has written, that batch has happened before
 * that moment. Another of its plants can then differ only if another call has written what the page shows, or has
 * removed the plant, after the batch was called.
 */
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import type { Call, History } from '../history.ts'
import { coveredBy, plantsOf } from '../operations/reads.ts'
import { type Action, describe, timelinesOf } from './timelines.ts'

export function judgeBatches(history: History): string[] {
  const { actions } = timelinesOf(history)
  const batches = batchesByName([...actions.values()].flat())
  return history.calls.filter(showsAll).flatMap((page) => {
    const query = new URLSearchParams(page.arguments.query)
    const covered = new Set(coveredBy(page, query))
    const found = new Map(plantsOf(page).map((plant) => [plant.id, plant]))
    const shown = new Set([...found.values()].flatMap(({ name }) => batches.get(name) ?? []))
    return [...shown].flatMap((batch) =>
      writtenBy(batch)
        .filter(({ id }) => covered.has(id))
        .filter((plant) => {
          const others = actions.get(plant.id) ?? []
          return !isExplained({ plant, found: found.get(plant.id), others, batch, page })
        })
        .map(({ id }) => `${describe(page)}\n  lacks ${id} of ${describe(batch)}`),
    )
  })
}

/** Whether a page shows each plant that it covers. What a filter omits can have any other content. */
function showsAll({ operation, arguments: { query = '' }, answer }: Call): boolean {
  const isPage = operation === 'list' || operation === 'getMany'
  return isPage && answer?.status === 200 && !new URLSearchParams(query).has('tag')
}

/** The plants that a batch, or a list of changes, writes together. */
function writtenBy({ operation, arguments: { plants = [], changes = [] } }: Call): StoredPlant[] {
  if (operation === 'createBatch') return [...plants]
  return changes.flatMap(({ op, id, name = '' }) =>
    op === 'create' || op === 'replace' ? [{ id, name }] : [],
  )
}

/** The batches by the names that nobody else has written. */
function batchesByName(actions: readonly Action[]): Map<string, Call> {
  const writers = Map.groupBy(actions, ({ step }) => step.writes?.name)
  const batches = new Map<string, Call>()
  for (const [name, [action, ...others]] of writers) {
    if (name === undefined || action === undefined || others.length > 0) continue
    if (writtenBy(action.call).length > 0) batches.set(name, action.call)
  }
  return batches
}

function isExplained({
  plant,
  found,
  others,
  batch,
  page,
}: {
  readonly plant: StoredPlant
  readonly found: StoredPlant | undefined
  readonly others: readonly Action[]
  readonly batch: Call
  readonly page: Call
}): boolean {
  if (found?.name === plant.name) return true
  return others.some(({ call, step, isOpen }) => {
    if (call === batch || step.writes === undefined || step.writes.name !== found?.name)
      return false
    const canFollow = isOpen || (call.ended ?? 0) > batch.called
    return canFollow && call.called < (page.ended ?? 0)
  })
}
