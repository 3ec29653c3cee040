/** The bodies that `PATCH /plants` rejects, none of which changes a plant. */
import t, { type Test } from 'tap'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 1n, name: 'Abies', tag: 'Tree' } })
})

const MAX = 2n ** 63n - 1n

const send = (body: string) => service.call({ method: 'PATCH', body })

const good = '{"op":"remove","id":1}'
const ops = 'create, replace, update or remove'

const INVALID: [what: string, body: string, message: string][] = [
  ['an empty list', '[]', 'body must have 1 or more items'],
  ['more than 1,000 changes', `[${Array(1001).fill(good)}]`, 'body must have 1000 or fewer items'],
  ['a change outside a list', good, 'body must be array'],
  ['null as a change', `[${good},null]`, 'body/1 must be object'],
  ['a list as a change', `[${good},[${good}]]`, 'body/1 must be object'],
  ['no op', `[${good},{"id":1}]`, "body/1 must have required property 'op'"],
  ['an unknown op', `[${good},{"op":"put","id":1}]`, `body/1/op must be ${ops}`],
  ['an op that is inherited', '[{"op":"constructor","id":1}]', `body/0/op must be ${ops}`],
  ['an op that is not a string', '[{"op":null,"id":1}]', `body/0/op must be ${ops}`],
  ['no id', '[{"op":"remove"}]', "body/0 must have required property 'id'"],
  ['an id in quotes', '[{"op":"remove","id":"1"}]', 'body/0/id must be an int64'],
  [
    'an id beyond int64',
    `[${good},{"op":"remove","id":${MAX + 1n}}]`,
    'body/1/id must be an int64',
  ],
  [
    'a create without a name',
    '[{"op":"create","id":1}]',
    "body/0 must have required property 'name'",
  ],
  [
    'a replacement with a null tag',
    '[{"op":"replace","id":1,"name":"x","tag":null}]',
    'body/0/tag must be string',
  ],
  [
    'an update with a null name',
    `[${Array(3).fill(good)},{"op":"update","id":1,"name":null}]`,
    'body/3/name must be string',
  ],
  [
    'an update with a numeric tag',
    '[{"op":"update","id":1,"tag":4}]',
    'body/0/tag must be string or null',
  ],
  [
    'a removal with a name',
    '[{"op":"remove","id":1,"name":"x"}]',
    "body/0 must not have the property 'name'",
  ],
  [
    'a create with ifMatch',
    '[{"op":"create","id":1,"name":"x","ifMatch":"*"}]',
    "body/0 must not have the property 'ifMatch'",
  ],
  [
    'a misspelled property',
    '[{"op":"update","id":1,"nmae":"x"}]',
    "body/0 must not have the property 'nmae'",
  ],
  [
    'a property named __proto__',
    '[{"op":"remove","id":1,"__proto__":{"id":2}}]',
    "body/0 must not have the property '__proto__'",
  ],
  [
    'a property with a long name',
    `[{"op":"remove","id":1,"${'x'.repeat(100_000)}":1}]`,
    `body/0 must not have the property '${'x'.repeat(50)}'`,
  ],
  [
    'an ifMatch without quotes',
    '[{"op":"remove","id":1,"ifMatch":"x"}]',
    'body/0/ifMatch must be an entity tag in double quotes, without the W/ that proxies add',
  ],
  ...['*', 'W/\\"x\\"', '\\"x\\", \\"y\\"'].map((ifMatch): (typeof INVALID)[number] => [
    `the ifMatch ${ifMatch}`,
    `[{"op":"remove","id":1,"ifMatch":"${ifMatch}"}]`,
    'body/0/ifMatch must be an entity tag in double quotes, without the W/ that proxies add',
  ]),
  ['a null ifMatch', '[{"op":"remove","id":1,"ifMatch":null}]', 'body/0/ifMatch must be string'],
]
for (const [what, body, message] of INVALID) {
  t.test(`${what} is rejected, and nothing is changed`, async (t) => {
    const answer = await assertUnchanged(t, body)
    t.match(answer, { status: 400, json: { error: 40002, message } })
  })
}

t.test('invalid JSON is rejected', async (t) => {
  const answer = await assertUnchanged(t, `[${good},]`)
  t.match(answer, { status: 400, json: { error: 40001 } })
})

t.test('a list at the size limit is accepted, one byte more is rejected', async (t) => {
  const limit = 1024 * 1024
  const list = '[{"op":"update","id":1}]'
  t.match((await send(list.padEnd(limit))).json, { unchanged: 1 })
  const answer = await assertUnchanged(t, `[${good}]`.padEnd(limit + 1))
  t.match(answer, { status: 413, json: { error: 41301 } })
})

t.test(
  'the media type of a merge patch is rejected, and the response names the right one',
  async (t) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const answer = await service.call({ method: 'PATCH', path: '/plants', body: '[]', headers })
    t.match(answer, { status: 415, headers: { 'accept-patch': 'application/json' } })
  },
)

async function assertUnchanged(t: Test, body: string) {
  const answer = await send(body)
  t.equal(await service.count(), 1)
  t.strictSame(await service.stored(1n), { id: 1n, name: 'Abies', tag: 'Tree' })
  return answer
}
