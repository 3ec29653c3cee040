/** Bodies that operations reject, none of which changes a plant, and their limits. */
import t, { type Test } from 'tap'
import { type Call, type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 1n, name: 'Abies', tag: 'Tree' } })
})

const CREATE = { method: 'POST', path: '/plants' }
const BATCH = { method: 'POST', path: '/plants/batch' }
const LIST = { method: 'PATCH', path: '/plants' }
const PUT = { method: 'PUT', path: '/plants/1' }
const PATCH = { method: 'PATCH', path: '/plants/1' }

const MAX = 2n ** 63n - 1n
const plant = '{"id":2,"name":"x"}'
const remove = '{"op":"remove","id":1}'
const ops = 'create, replace, update or remove'
const ifMatch =
  'body/0/ifMatch must be an entity tag in double quotes, without the W/ that proxies add'
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

const INVALID: [call: Call, body: string, message: string][] = [
  ...[`${MAX + 1n}`, '1.5', '"5"', '[1]', '1'.repeat(1e5)].map((id): (typeof INVALID)[number] => [
    CREATE,
    `{"id":${id},"name":"x"}`,
    'body/id must be an int64',
  ]),
  ...[CREATE, PUT, PATCH].flatMap((call) =>
    ['null', '[]', '"text"'].map((body): (typeof INVALID)[number] => [
      call,
      body,
      'body must be object',
    ]),
  ),
  [CREATE, '{"id":2}', "body must have required property 'name'"],
  [CREATE, '{"id":2,"__proto__":{"name":"x"}}', "body must have required property 'name'"],
  [PATCH, '{"name":"x","tag":7}', 'body/tag must be string or null'],
  [BATCH, '[]', 'body must have 1 or more items'],
  [BATCH, `[${Array(1001).fill(plant)}]`, 'body must have 1000 or fewer items'],
  [BATCH, plant, 'body must be array'],
  [
    BATCH,
    `[${Array(17).fill(plant)},{"id":${MAX + 1n},"name":"x"}]`,
    'body/17/id must be an int64',
  ],
  [BATCH, `[${plant},{"id":1}]`, "body/1 must have required property 'name'"],
  [BATCH, `[null,${plant}]`, 'body/0 must be object'],
  [LIST, '[]', 'body must have 1 or more items'],
  [LIST, `[${Array(1001).fill(remove)}]`, 'body must have 1000 or fewer items'],
  [LIST, remove, 'body must be array'],
  [LIST, `[${remove},null]`, 'body/1 must be object'],
  [LIST, `[${remove},[${remove}]]`, 'body/1 must be object'],
  [LIST, `[${remove},{"id":1}]`, "body/1 must have required property 'op'"],
  ...['"put"', '"constructor"', 'null'].map((op): (typeof INVALID)[number] => [
    LIST,
    `[{"op":${op},"id":1}]`,
    `body/0/op must be ${ops}`,
  ]),
  [LIST, '[{"op":"remove"}]', "body/0 must have required property 'id'"],
  [LIST, '[{"op":"remove","id":"1"}]', 'body/0/id must be an int64'],
  [LIST, '[{"op":"create","id":1}]', "body/0 must have required property 'name'"],
  [LIST, '[{"op":"replace","id":1,"name":"x","tag":null}]', 'body/0/tag must be string'],
  [LIST, `[${remove},{"op":"update","id":1,"name":null}]`, 'body/1/name must be string'],
  [LIST, '[{"op":"update","id":1,"tag":4}]', 'body/0/tag must be string or null'],
  ...[
    ['name', '{"op":"remove","id":1,"name":"x"}'],
    ['ifMatch', '{"op":"create","id":1,"name":"x","ifMatch":"*"}'],
    ['ifContent', '{"op":"create","id":1,"name":"x","ifContent":{"name":"x"}}'],
    ['nmae', '{"op":"update","id":1,"nmae":"x"}'],
    ['__proto__', '{"op":"remove","id":1,"__proto__":{"id":2}}'],
    ['x'.repeat(50), `{"op":"remove","id":1,"${'x'.repeat(1e5)}":1}`],
  ].map(([name, change]): (typeof INVALID)[number] => [
    LIST,
    `[${change}]`,
    `body/0 must not have the property '${name}'`,
  ]),
  ...['x', '*', 'W/\\"x\\"', '\\"x\\", \\"y\\"'].map((value): (typeof INVALID)[number] => [
    LIST,
    `[{"op":"remove","id":1,"ifMatch":"${value}"}]`,
    ifMatch,
  ]),
  [LIST, '[{"op":"remove","id":1,"ifMatch":null}]', 'body/0/ifMatch must be string'],
  [LIST, '[{"op":"remove","id":1,"ifContent":null}]', 'body/0/ifContent must be object'],
  [LIST, '[{"op":"remove","id":1,"ifContent":[]}]', 'body/0/ifContent must be object'],
  [
    LIST,
    '[{"op":"remove","id":1,"ifContent":{"tag":"x"}}]',
    "body/0/ifContent must have required property 'name'",
  ],
  [
    LIST,
    '[{"op":"remove","id":1,"ifContent":{"id":1,"name":"x"}}]',
    "body/0/ifContent must not have the property 'id'",
  ],
  ...['"op":"remove"', '"op":"update"', '"op":"replace","name":"x"'].map(
    (change): (typeof INVALID)[number] => [
      LIST,
      `[{${change},"id":1,"ifMatch":"\\"x\\"","ifContent":{"name":"x"}}]`,
      'body/0 must not have both ifMatch and ifContent',
    ],
  ),
]
t.test('a body that violates the contract is rejected with the first problem', async (t) => {
  for (const [call, body, message] of INVALID) {
    await assertRejected(t, { ...call, body }, { status: 400, json: { error: 40002, message } })
  }
})

const NOT_JSON: (string | Buffer)[] = [
  '',
  'id=2&name=x',
  `[${remove},]`,
  `\ufeff[${remove}]`,
  // Not UTF-8: a byte, a surrogate and an overlong sequence.
  ...['ff', 'eda080', 'c0af'].map((bytes) => Buffer.from(`5b22${bytes}225d`, 'hex')),
  deep(1e5),
  `${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}`,
  deep(65),
]
t.test('invalid JSON is rejected', async (t) => {
  const json = { error: 40001, message: /^body is / }
  for (const body of NOT_JSON) await assertRejected(t, { ...LIST, body }, { status: 400, json })
})

t.test('a missing body is rejected', async (t) => {
  const json = { error: 40002, message: 'body is required' }
  for (const call of [CREATE, BATCH, LIST, PUT, PATCH]) {
    const headers = { 'content-length': '0' }
    await assertRejected(t, { ...call, headers }, { status: 400, json })
  }
})

t.test('a body at the limit is accepted, one byte more is rejected', async (t) => {
  const limit = 2 ** 20
  for (const [call, body] of [
    [CREATE, '{"id":1,"name":"Abies","tag":"Tree"}'],
    [LIST, '[{"op":"update","id":1}]'],
  ] as const) {
    t.match(await service.call({ ...call, body: body.padEnd(limit) }), { status: 200 })
    const large = { ...call, body: body.padEnd(limit + 1) }
    await assertRejected(t, large, { status: 413, json: { error: 41301 } })
  }
})

t.test('a chunked body over the limit is rejected', async (t) => {
  const headers = { 'transfer-encoding': 'chunked' }
  const body = plant.padEnd(3 * 2 ** 20)
  await assertRejected(t, { ...CREATE, body, headers }, { status: 413, json: { error: 41301 } })
})

async function assertRejected(t: Test, call: Call, answer: object) {
  t.match(await service.call(call), answer, String(call.body).slice(0, 60))
  t.strictSame(await service.stored(1n), { id: 1n, name: 'Abies', tag: 'Tree' })
  t.equal(await service.count(), 1)
}
