/** Tests with faults find the mistakes that clients make: for each, there are a test and a client that makes it. */
import t, { type Test } from 'tap'
import { createClient } from '../../../client/client.ts'
import { type RunningPlantStore, startPlantStore } from '../../../src/index.ts'
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

/** The stores of each client. Those whose feed a check reads are not used again. */
const stores = new Map<ClientClass | 'wrong', RunningPlantStore>()

async function emptyStore(t: Test, client: ClientClass | 'wrong', isFollowed: boolean) {
  const known = isFollowed ? undefined : stores.get(client)
  const store = known ?? (await startPlantStore({ faults: [] }))
  if (isFollowed) t.teardown(store.close)
  else stores.set(client, store)
  store.setFaults([])
  const admin = createClient(store)
  const ids = await Array.fromAsync(admin.plants(), ({ id }) => id)
  await admin.changePlants(ids.map((id) => ({ op: 'remove', id })))
  store.clearRequests()
  return store
}

t.teardown(() => Promise.all(Array.from(stores.values(), (store) => store.close())))

/** Runs a test of a client with an empty store. */
async function run(t: Test, check: checks.Check, client: ClientClass): Promise<void> {
  const isWrong = Object.values(WRONG).includes(client)
  const store = await emptyStore(t, isWrong ? 'wrong' : client, FOLLOWED.has(check))
  const { url, token } = store
  const timeoutMs = check === checks.timesOut ? 300 : 60_000
  await check(new client({ url, token, timeoutMs }), store)
}

const FOLLOWED = new Set([checks.followsACutStream, checks.copiesAgainAfterAnExpiredCursor])

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
