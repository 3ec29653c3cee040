import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Test } from 'tap'
import { TokenStore } from '../../service/token-store.ts'
import { AccessTokens, type Tokens } from '../../src/auth/access-tokens.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'

export const NOW = Date.parse('2026-11-20T12:00:00.000Z')
export const CI = { name: 'ci', scopes: ['write'] } as const

/** Access tokens with their own store, a clock that the test sets, and a promise for each noted use. */
export function setUp(t: Test, fixedToken?: { name: string; token: string }) {
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => store.close())
  const clock = { now: NOW }
  const notes: Promise<void>[] = []
  const stored = new TokenStore(store)
  const watched: Tokens = {
    find: (selector) => stored.find(selector),
    list: () => stored.list(),
    add: (token, max) => stored.add(token, max),
    remove: (name) => stored.remove(name),
    noteUse: (name, at) => {
      const note = stored.noteUse(name, at)
      notes.push(note)
      return note
    },
  }
  const tokens = new AccessTokens(watched, { fixedToken, clock: { now: () => clock.now } })
  const lastUse = async () => {
    await Promise.all(notes)
    return (await stored.list())[0]?.lastUsedAt?.getTime()
  }
  return { store, watched, tokens, clock, notes, lastUse }
}

/** Verifies in a new turn of the event loop, because calls in the same turn share a verification. */
export async function verify(tokens: AccessTokens, token: string) {
  await nextTurn()
  return tokens.verify(token)
}
