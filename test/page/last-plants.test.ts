/** The last plants of a list. */
import t, { type Test } from 'tap'
import { createClient } from '../../client/client.ts'
import { findLastPlants, suggestId } from '../../page/list/last-plants.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { startService } from '../helpers/service/service.ts'

const INT64_MAX = 2n ** 63n - 1n

async function clientWith(t: Test, ids: readonly bigint[]) {
  const service = await startService(t)
  const plants = ids.map((id) => ({ id, name: id === 1n ? 'needle' : 'Abies' }))
  await importPlants(service.store, plants, 'stop')
  return createClient({ url: service.url, token: service.token })
}

t.test(
  'the last plants that a filter selects are found, as far as a screen shows them',
  async (t) => {
    const ids = Array.from({ length: 25_000 }, (_, index) => BigInt(index + 1))
    const client = await clientWith(t, ids)
    const { signal } = new AbortController()
    const search = async (q?: string) =>
      (await findLastPlants(client, q === undefined ? {} : { q }, signal)).map(({ id }) => id)
    t.strictSame(await search(), ids.slice(-50))
    // Many pages without it follow the last plant.
    t.strictSame(await search('needle'), [1n])
    t.strictSame(await search('nothing'), [])
  },
)

t.test('the id after the last one is suggested', async (t) => {
  for (const [stored, suggested] of [
    [[], 1n],
    [[-5n, 7n], 8n],
    [[7n, INT64_MAX], undefined],
  ] as const) {
    t.equal(await suggestId(await clientWith(t, stored)), suggested)
  }
  const listPlants = () => Promise.reject(new Error('unavailable'))
  t.equal(await suggestId({ listPlants }), undefined)
})
