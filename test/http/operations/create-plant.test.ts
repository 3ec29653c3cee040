import t from 'tap'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)
const SAFE = 2n ** 53n

t.test('a new plant is stored and returned without its id', async (t) => {
  const answer = await service.call({ body: { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' } })
  t.equal(answer.status, 200)
  t.same(answer.json, { name: 'Abies alba Mill.', tag: 'Tree' })
  t.same(await service.stored(4n), { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' })
})

t.test('a plant without a tag is returned without one', async (t) => {
  const answer = await service.call({ body: { id: 5n, name: 'Acer rubrum L.' } })
  t.equal(answer.body, '{"name":"Acer rubrum L."}')
  t.equal((await service.stored(5n))?.tag, null)
})

const EXACT_IDS: [spelling: string, id: bigint][] = [
  [`${MAX}`, MAX],
  [`${MIN}`, MIN],
  [`${SAFE + 1n}`, SAFE + 1n],
  [`${SAFE + 1n}.0`, SAFE + 1n],
  ['1.0', 1n],
  ['-0', 0n],
  ['3000e-3', 3n],
  ['0.9223372036854775806e19', MAX - 1n],
  [`0e${'9'.repeat(400)}`, 0n],
]
for (const [spelling, id] of EXACT_IDS) {
  t.test(`the id ${spelling.slice(0, 30)} is stored as ${id}`, async (t) => {
    // Unique, because other spellings give some of these ids too.
    const name = `id ${id}`
    const answer = await service.call({ body: `{"id": ${spelling}, "name": "${name}"}` })
    t.equal(answer.status, 200)
    t.equal((await service.stored(id))?.name, name)
  })
}

t.test('unknown properties are ignored and do not pollute prototypes', async (t) => {
  const body = `{
    "id": 9, "name": "x", "colour": "green", "toString": null, "more": {"id": 5, "x": [null, 1e400]},
    "__proto__": {"tag": "polluted", "polluted": true},
    "constructor": {"prototype": {"polluted": true}}, "\\u0000": "\\ud800", "9007199254740993": 1
  }`
  const answer = await service.call({ body })
  t.equal(answer.body, '{"name":"x"}')
  t.same(await service.stored(9n), { id: 9n, name: 'x', tag: null })
  t.equal(({} as { polluted?: boolean }).polluted, undefined)
})
