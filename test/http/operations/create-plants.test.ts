import t from 'tap'
import { type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const path = '/plants/batch'

/** Each test has its own ids. */
let latest = 0n
const plants = (count: number) =>
  Array.from({ length: count }, () => ({ id: ++latest, name: 'Abies', tag: 'Tree' }))

t.test('the first conflict is named by index and id, and nothing is stored', async (t) => {
  const body = plants(4)
  const [first, second, third, fourth] = body
  await service.call({ path, body: [third, fourth] })
  const answer = await service.call({
    path,
    body: [first, second, { ...fourth, tag: '' }, { ...third, name: 'Acer' }],
  })
  t.equal(answer.status, 409)
  const message = `body/2: plant ${fourth?.id} already exists with different content`
  t.strictSame(answer.json, { error: 40901, message })
  t.equal(await service.stored(first?.id ?? 0n), undefined)
  t.equal((await service.stored(third?.id ?? 0n))?.name, 'Abies')
})

t.test('equal plants with the same id count as replayed', async (t) => {
  const [first, second] = plants(2)
  const body = [first, second, first, first]
  t.strictSame((await service.call({ path, body })).json, { created: 2, replayed: 2 })
  const answer = await service.call({
    path,
    body: [first, first, { ...second, name: 'Acer' }],
  })
  t.match(answer.json, { error: 40901, message: /^body\/2: / }, 'the index is that in the request')
})

t.test('different plants with the same id are rejected', async (t) => {
  const [first, second] = plants(2)
  for (const other of [
    { ...first, name: 'Acer' },
    { ...first, tag: '' },
    { id: first?.id, name: 'Abies' },
  ]) {
    const message = `body/2: plant ${first?.id} differs from body/1, which has the same id`
    const answer = await service.call({ path, body: [second, first, other] })
    t.match(answer, { status: 400, json: { error: 40006, message } })
    t.equal(await service.stored(first?.id ?? 0n), undefined)
  }
})
