/** Tests with faults find the mistakes that clients make: for each, there are a test and a client that makes it. */
import t, { type Test } from 'tap'
import { startPlantStore } from '../../../src/index.ts'
import * as checks from './checks.ts'
import type { Access, Client } from './client.ts'
import { OurClient } from './our-client.ts'
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

/** Runs a test of a client with a store of its own. */
async function run(t: Test, check: checks.Check, client: ClientClass): Promise<void> {
  const store = await startPlantStore({ faults: [] })
  t.teardown(store.close)
  await check(new client(store), store)
}

for (const [name, check] of Object.entries(checks)) {
  const Wrong = WRONG[name as keyof typeof checks]
  t.test(`${name} finds ${Wrong.name}, and accepts right clients`, async (t) => {
    const accepted = [RightClient, OurClient].map((client) => run(t, check, client))
    await Promise.all([...accepted, t.rejects(run(t, check, Wrong))])
  })
}

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
