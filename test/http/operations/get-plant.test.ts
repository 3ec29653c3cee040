/** Ids in the path of /plants/{id}. */
import t from 'tap'
import { type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const get = (id: bigint | string) => service.call({ method: 'GET', path: `/plants/${id}` })

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

t.test('percent-encoding is decoded once', async (t) => {
  await service.call({ body: { id: -5n, name: 'encoded' } })
  t.match((await get('%2D%35')).json, { name: 'encoded' })
  t.equal((await get('%252D5')).status, 400)
})

const INVALID_IDS = [
  ...['0x10', '1e3', '%205', '5%20', '1.0', '+1', '01', '-0', '-01', '--1', '-', '1_000', '1n'],
  ...[`${MAX + 1n}`, `${MIN - 1n}`, '%D9%A3', '%EF%BC%95', '5%00', '5%0A', '5,6', 'NaN', 'null'],
  ...['1'.repeat(200), '1'.repeat(10_000), '0'.repeat(200), '1%2F2', ';1', '..%2F1'],
]
t.test('an id that is no int64 in decimal is rejected', async (t) => {
  const error = { error: 40004, message: 'the path parameter id must be an int64 in decimal' }
  for (const id of INVALID_IDS) t.same((await get(id)).json, error, id.slice(0, 30))
})
