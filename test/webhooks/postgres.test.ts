/** Deliveries by replicas that share a PostgreSQL server. */
import t from 'tap'
import { sharedPostgres } from '../helpers/shared-postgres.ts'
import { startReceiver } from './receiver.ts'
import { createPlants, eventually, idsFrom, newPlace } from './setting.ts'

t.test('one replica at a time delivers, and another continues after it', async (t) => {
  const { emptyDatabase } = await sharedPostgres()
  const database = await emptyDatabase()
  const [one, other] = [await newPlace(t, database), await newPlace(t, database)]
  const receiver = await startReceiver(t)
  await one.add('orders', receiver.url)
  const replicas = [one.deliver(), other.deliver()]
  const plantsIn = async (count: number) => (await receiver.until(count)).map(({ plant }) => plant)
  await createPlants(one.store, 1, 50)
  await createPlants(other.store, 51, 50)
  t.same(await plantsIn(100), idsFrom(1, 100))
  await eventually(() => replicas.some((each) => each.figures()[0]?.received === 100))
  const owner = replicas.find((each) => each.figures()[0]?.received === 100)
  await owner?.close()
  await createPlants(one.store, 101, 10)
  t.same(await plantsIn(110), idsFrom(1, 110))
})
