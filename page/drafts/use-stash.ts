import { useEffect, useRef } from 'preact/hooks'
import { stashDrafts, unstashDrafts } from './draft-storage.ts'
import type { Drafts } from './drafts.ts'

/**
 * Warns a person who leaves the page with drafts, unless they are stashed.
 *
 * @returns a function that stashes the drafts until the tab comes back to the page
 */
export function useStash(drafts: Drafts): () => void {
  /** Whether the page is about to leave with its drafts in the tab's storage. */
  const isStashed = useRef(false)
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (drafts.unsaved.length > 0 && !isStashed.current) event.preventDefault()
      isStashed.current = false
    }
    // Also after the person went back from the issuer.
    const unstash = () => unstashDrafts(drafts)
    unstash()
    addEventListener('beforeunload', warn)
    addEventListener('pageshow', unstash)
    return () => {
      removeEventListener('beforeunload', warn)
      removeEventListener('pageshow', unstash)
    }
  }, [])
  return () => {
    isStashed.current = stashDrafts(drafts)
  }
}
