import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { SELECTOR_BYTES, type StoredToken } from '../../service/token-store.ts'
import { AccessTokens } from '../../src/auth/access-tokens.ts'
import { CI, NOW, setUp, verify } from './token-setup.ts'

t.test('a use is noted at most once a minute', async (t) => {
  const { tokens, clock, notes, lastUse } = setUp(t)
  const token = (await tokens.issue(CI)) as string
  t.equal(await lastUse(), undefined)
  for (const [after, noted] of [
    [5, 5],
    [6, 5],
    [60_004, 5],
    [60_005, 60_005],
    [120_004, 60_005],
    [120_005, 120_005],
  ] as const) {
    clock.now = NOW + after
    await Promise.all([verify(tokens, token), verify(tokens, token)])
    t.equal(await lastUse(), NOW + noted, `after ${after} ms`)
  }
  t.equal(notes.length, 3)
})

t.test('a use noted by another process is not noted again within the minute', async (t) => {
  const { tokens, watched, clock, notes } = setUp(t)
  const token = (await tokens.issue(CI)) as string
  await verify(tokens, token)
  await Promise.all(notes)
  const other = new AccessTokens(watched, { clock: { now: () => clock.now } })
  clock.now += 59_999
  await verify(other, token)
  t.equal(notes.length, 1)
  clock.now += 1
  await verify(other, token)
  t.equal(notes.length, 2)
})

t.test('the use of an invalid, expired or revoked token is not noted', async (t) => {
  const { tokens, clock, notes } = setUp(t)
  const expired = (await tokens.issue({ ...CI, lifetimeMs: 1 })) as string
  clock.now += 1
  await verify(tokens, expired)
  await verify(tokens, `${expired}x`)
  await tokens.revoke('ci')
  await verify(tokens, expired)
  t.equal(notes.length, 0)
})

t.test(
  'the first use of a token is noted even if a revoked token of the same name was just used',
  async (t) => {
    const { tokens, clock, lastUse } = setUp(t)
    await verify(tokens, (await tokens.issue(CI)) as string)
    await tokens.revoke('ci')
    clock.now += 10
    await verify(tokens, (await tokens.issue(CI)) as string)
    t.equal(await lastUse(), NOW + 10)
  },
)

t.test(
  'a failure to note a use does not fail the request, and the next use is noted',
  async (t) => {
    const { watched, clock, lastUse } = setUp(t)
    const failed: Promise<void>[] = []
    const tokens = new AccessTokens(
      {
        ...watched,
        noteUse: (name, at) => {
          if (failed.length >= 2) return watched.noteUse(name, at)
          const failure = Promise.reject(new StoreUnavailable('failing', 'SQLITE_FULL'))
          failed.push(failure)
          return failure
        },
      },
      { clock: { now: () => clock.now } },
    )
    const token = (await tokens.issue(CI)) as string
    for (const uses of [1, 2, 2]) {
      clock.now += 1
      t.match(await verify(tokens, token), { name: 'ci' })
      await Promise.allSettled(failed)
      t.equal(failed.length, uses)
    }
    t.equal(await lastUse(), NOW + 3)
  },
)

t.test('a token is known while it is one of the last ten thousand', async (t) => {
  const scopes = ['read'] as const
  const stored = new Map<string, StoredToken>()
  const keyOf = (selector: Uint8Array) => Buffer.from(selector).toString('hex')
  const { watched } = setUp(t)
  const tokens = new AccessTokens({
    ...watched,
    add: async (token) => {
      stored.set(keyOf(token.digest.subarray(0, SELECTOR_BYTES)), token)
      return true
    },
    find: async (selector) => stored.get(keyOf(selector)),
    noteUse: async () => {},
  })
  const issued: string[] = []
  for (let count = 0; count < 10_001; count++) {
    const token = (await tokens.issue({ name: `${count}`, scopes })) as string
    issued.push(token)
    await tokens.verify(token)
  }
  await nextTurn()
  t.notOk(tokens.isKnown(issued[0] as string))
  t.ok(tokens.isKnown(issued[1] as string))
  t.ok(tokens.isKnown(issued[10_000] as string))
})
