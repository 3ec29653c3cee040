import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../client/client.ts'

/** How many tags are loaded. Others must be typed completely. */
const TAGS_MAX = 20_000

/** The tags that plants have, in alphabetical order. */
export interface Tags {
  readonly all: readonly string[]
  /** Loads them, or loads them again. */
  load(): void
}

/** How many tags the browser suggests. */
const SUGGESTED_MAX = 1000

/** What a field for a tag suggests. */
export function suggestionsOf(tags: Tags | undefined) {
  return { values: tags?.all.slice(0, SUGGESTED_MAX) ?? [], load: () => tags?.load() }
}

export function useTags(client: PlantStoreClient): Tags {
  const [all, setAll] = useState<readonly string[]>([])
  const loading = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => loading.current?.abort(), [client])
  const load = async () => {
    loading.current?.abort()
    const controller = new AbortController()
    loading.current = controller
    const loaded: string[] = []
    try {
      for await (const tag of client.tags(controller)) {
        if (loaded.push(tag) === TAGS_MAX) break
      }
      setAll(loaded.toSorted())
    } catch {
      // Those of last time remain, and others can be typed. The table says what is wrong.
    }
  }
  return { all, load }
}
