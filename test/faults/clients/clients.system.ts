/** Tests with faults find the mistakes that clients make: for each, there are a test and a client that makes it. */
import t, { type Test } from 'tap'
import { type RunningPlantStore, startPlantStore } from '../../../src/index.ts'
import * as checks from './checks.ts'
import type { Access, Client } from './client.ts'
import { RightClient } from './right-client.ts'
import * as wrong from './wrong-clients.ts'

type ClientClass = new (access: Access) => Client

/** The mistake that each test finds. */
const WRONG: Readonly<Record<keyof typeof checks, ClientClass>> = {
  retriesALostResponse: wrong.NeverRetries,
  givesUp: wrong.RetriesForever,
  timesOut: wrong.WaitsForever,
  acceptsARefusal: wrong.RetriesRefusals,
  keepsTheId: wrong.RetriesWithNewId,
  honorsRetryAfter: wrong.IgnoresRetryAfter,
  overwritesNobody: wrong.DropsIfMatch,
  recognizesItsOwnChange: wrong.TakesItsOwnChangeForAnothers,
  listsAllPages: wrong.ReadsOnePage,
  noticesAListThatEndsEarly: wrong.AcceptsHalfAPage,
  keepsIdsExact: wrong.RoundsIds,
  followsACutStream: wrong.LosesCursor,
  copiesAgainAfterAnExpiredCursor: wrong.TakesGoneForEmpty,
}

/** An empty store, which is closed when the test ends. */
async function emptyStore(t: Test): Promise<RunningPlantStore> {
  const store = await startPlantStore({ faults: [] })
  t.teardown(store.close)
  return store
}

t.test('each test finds a wrong client, and accepts a right one', async (t) => {
  const tests = Object.entries(checks).map(async ([name, check]) => {
    const Wrong = WRONG[name as keyof typeof checks]
    const timeoutMs = check === checks.timesOut ? 300 : 60_000
    const run = async (Client: ClientClass) => {
      const store = await emptyStore(t)
      await check(new Client({ url: store.url, token: store.token, timeoutMs }), store)
    }
    await t.resolves(run(RightClient), `${name} accepts a right client`)
    await t.rejects(run(Wrong), `${name} finds ${Wrong.name}`)
  })
  await Promise.all(tests)
})

t.test('there are no other wrong clients, and each test is short', async (t) => {
  t.same(
    Object.values(WRONG)
      .map(({ name }) => name)
      .toSorted(),
    Object.keys(wrong).toSorted(),
  )
  for (const check of Object.values(checks)) {
    const lines = check.toString().split('\n').length
    t.ok(lines <= 15, `${check.name}: ${lines} lines`)
  }
})
