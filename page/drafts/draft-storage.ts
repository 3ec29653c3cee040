import { storages } from '../access/session.ts'
import type { Drafts } from './drafts.ts'

const KEY = 'plant-store-drafts'

/**
 * Copies the drafts to the tab's storage, because the tab leaves the page so that the person can sign in. The page keeps
 * them too, because the person can stop it from leaving.
 *
 * @returns whether they can be read again. Otherwise, they are too large, or storage is blocked
 */
export function stashDrafts(drafts: Drafts): boolean {
  if (drafts.unsaved.length === 0) return false
  try {
    sessionStorage.setItem(KEY, drafts.toJson())
    return true
  } catch {
    return false
  }
}

/** Replaces the drafts by those in the tab's storage, if there are any. */
export function unstashDrafts(drafts: Drafts): void {
  const json = forgetStash()
  if (json) drafts.load(json)
}

/** Removes the drafts from the tab's storage, and returns them as JSON. */
export function forgetStash(): string | null | undefined {
  const [tab] = storages()
  const json = tab?.getItem(KEY)
  tab?.removeItem(KEY)
  return json
}
