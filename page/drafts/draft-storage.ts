import { storages } from '../access/session.ts'
import type { Drafts } from './drafts.ts'

const KEY = 'plant-store-drafts'

/** Moves the drafts to the tab's storage, because the tab leaves the page so that the person can sign in. */
export function stashDrafts(drafts: Drafts): void {
  if (drafts.unsaved.length === 0) return
  try {
    sessionStorage.setItem(KEY, drafts.toJson())
    drafts.clear()
  } catch {
    // They are too large, so the browser asks whether to leave the page.
  }
}

/** Moves the drafts back. */
export function unstashDrafts(drafts: Drafts): void {
  const [tab] = storages()
  const json = tab?.getItem(KEY)
  tab?.removeItem(KEY)
  if (json) drafts.load(json)
}
