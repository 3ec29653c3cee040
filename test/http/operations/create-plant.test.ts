import t, { type Test } from 'tap'
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

t.test(
  'a thousand concurrent creates of one id with different contents have one winner',
  async (t) => {
    const names = Array.from({ length: 1000 }, (_, index) => `contender ${index}`)
    const answers = await Promise.all(names.map((name) => service.call({ body: { id: 7n, name } })))
    const won = names.filter((_, index) => answers[index]?.status === 200)
    t.equal(won.length, 1)
    t.equal(answers.filter(({ status }) => status === 409).length, 999)
    t.equal((await service.stored(7n))?.name, won[0])
  },
)

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

const INVALID_IDS = [
  `${MAX + 1n}`,
  `${MIN - 1n}`,
  '1.5',
  '1e400',
  '"5"',
  '[1]',
  '1'.repeat(100_000),
]
for (const id of INVALID_IDS) {
  t.test(`the id ${id.slice(0, 30)} is rejected`, async (t) => {
    await assertRejected(t, `{"id": ${id}, "name": "rejected"}`, {
      error: 40002,
      message: 'body/id must be an int64',
    })
  })
}

const INVALID_BODIES: [what: string, body: string, message: string][] = [
  ['a missing name', '{"id": 1}', "body must have required property 'name'"],
  ...['null', '[]', '"text"'].map((body): [string, string, string] => [
    `the body ${body}`,
    body,
    'body must be object',
  ]),
]
for (const [what, body, message] of INVALID_BODIES) {
  t.test(`${what} is rejected`, async (t) => {
    await assertRejected(t, body, { error: 40002, message })
  })
}

const NOT_JSON: [what: string, body: string | Buffer][] = [
  ['empty', ''],
  ['a byte order mark', '\ufeff{"id": 1, "name": "x"}'],
  ['form data', 'id=1&name=x'],
  ['bytes that are not UTF-8', Buffer.from('{"id": 1, "name": "\xff"}', 'latin1')],
  ['a surrogate in UTF-8', Buffer.from('7b226964223a312c226e616d65223a22eda080227d', 'hex')],
  ['an overlong UTF-8 sequence', Buffer.from('7b226964223a312c226e616d65223a22c0af227d', 'hex')],
  ['100,000 arrays deep', `{"id": 1, "name": "x", "more": ${'['.repeat(1e5)}${']'.repeat(1e5)}}`],
  ['100,000 objects deep', `${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}`],
  ['deep and exact', `{"id": 9007199254740993, "name": "x", "more": ${'['.repeat(1e5)}`],
  ['65 levels deep', `{"id": 1, "name": "x", "more": ${'['.repeat(64)}${']'.repeat(64)}}`],
]
for (const [what, body] of NOT_JSON) {
  t.test(`invalid JSON is rejected: ${what}`, async (t) => {
    await assertRejected(t, body, { error: 40001, message: /^body is / })
  })
}

t.test('64 levels of nesting are accepted', async (t) => {
  const body = `{"id": 8, "name": "\\"[{", "more": ${'['.repeat(63)}${']'.repeat(63)}}`
  t.equal((await service.call({ body })).status, 200)
})

t.test('strings are returned code point by code point', async (t) => {
  const name = ` \t 🌱\u{10ffff}e\u0301\u00e9\ufb01\ufeff\u0001\u2028\uffff"'\\%00 1e400 \n `
  const answer = await service.call({ body: { id: 200n, name, tag: '' } })
  t.strictSame(answer.json, { name, tag: '' })
  t.strictSame(await service.stored(200n), { id: 200n, name, tag: '' })
})

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

t.test('members of a plant are not read from __proto__', async (t) => {
  const body = '{"id": 1, "__proto__": {"name": "x"}}'
  await assertRejected(t, body, { message: "body must have required property 'name'" })
})

async function assertRejected(t: Test, body: string | Buffer, error: object) {
  const before = await service.count()
  const answer = await service.call({ body })
  t.equal(answer.status, 400)
  t.match(answer.json, error)
  t.equal(await service.count(), before)
}
