import type { Size } from '../../group-commit.ts'
import { measureText, measureTexts } from '../../rows.ts'
import { type Change, countChanges } from '../writer/writer.ts'

/** The memory of a string object, in UTF-16 units. An If-Match header can hold thousands of short strings. */
const STRING_OVERHEAD = 16

/** What a change counts toward the limits on waiting changes. */
export function measureChange(change: Change): Size {
  return { changes: countChanges(change), text: measureChangeText(change) }
}

/** The text that a change keeps in memory while it waits, in UTF-16 units. */
function measureChangeText(change: Change): number {
  switch (change[0]) {
    case 'create':
      return measureText(change[1])
    case 'update':
      return measureText(change[2]) + measureVersions(change[3])
    case 'remove':
      return measureVersions(change[2])
    case 'createAll':
    case 'importPlants':
      return measureTexts(change[1])
    default:
      return 0
  }
}

function measureVersions(versions: readonly string[] = []): number {
  return versions.reduce((sum, { length }) => sum + length + STRING_OVERHEAD, 0)
}
