/** PUT and PATCH /plants/{id}. */

import t, { type Test } from 'tap'
import { importPlants } from '../../../src/transfer/import.ts'
import { type Call, type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const ID = 9007199254740993n
const PATH = `/plants/${ID}`
const JSON_TYPE = 'application/json'
const PATCH_TYPE = 'application/merge-patch+json'

/** Resets the plant, which the tests change. */
t.beforeEach(async () => {
  await importPlants(service.store, [{ id: ID, name: 'Abies', tag: 'Tree' }], 'replace')
})

const put = (body: unknown, call: Call = {}) =>
  service.call({ method: 'PUT', path: PATH, body, ...call })
const patch = (body: unknown, call: Call = {}) =>
  service.call({ method: 'PATCH', path: PATH, body, ...call })
const etagNow = async () => (await service.call({ method: 'GET', path: PATH })).headers.etag

t.test('PUT replaces name and tag and returns the plant', async (t) => {
  const answer = await put({ name: 'Acer', tag: 'Shrub' })
  t.equal(answer.status, 200)
  t.equal(answer.body, `{"id":${ID},"name":"Acer","tag":"Shrub"}`)
  t.same(await service.stored(ID), { id: ID, name: 'Acer', tag: 'Shrub' })
})

t.test('PUT without a tag removes the tag', async (t) => {
  t.equal((await put({ name: 'Abies' })).body, `{"id":${ID},"name":"Abies"}`)
  t.same(await service.stored(ID), { id: ID, name: 'Abies', tag: null })
})

t.test('PUT with an empty tag stores an empty tag', async (t) => {
  t.equal((await put({ name: '', tag: '' })).body, `{"id":${ID},"name":"","tag":""}`)
  t.same(await service.stored(ID), { id: ID, name: '', tag: '' })
})

t.test('the entity tag of a PUT is that of the plant, for the next change', async (t) => {
  // Longer ones are hashed.
  for (const name of ['Acer', 'x'.repeat(100)]) {
    const { headers } = await put({ colour: 'green', name })
    t.match(headers, { etag: await etagNow(), 'cache-control': 'no-cache' })
    t.equal((await put({ name: 'Abies' }, { headers: { 'if-match': headers.etag } })).status, 200)
    t.equal((await put({ name: 'Larix' }, { headers: { 'if-match': headers.etag } })).status, 412)
  }
})

t.test('a token that cannot read gets the entity tag of what it has sent', async (t) => {
  const token = await service.issueToken('writer', ['write'])
  t.equal((await put({ name: 'Acer' }, { token })).headers.etag, '"name=Acer"')
})

t.test('a repeated PUT returns the first response', async (t) => {
  const answers = [await put({ name: 'Acer' }), await put({ name: 'Acer' })]
  t.same(answers[0]?.json, answers[1]?.json)
  t.equal(answers[0]?.headers.etag, answers[1]?.headers.etag)
  t.same(await service.stored(ID), { id: ID, name: 'Acer', tag: null })
})

t.test('PUT ignores unknown properties in the body', async (t) => {
  const body = { name: 'Acer', colour: 'green', version: 'x' }
  t.equal((await put(body)).body, `{"id":${ID},"name":"Acer"}`)
})

t.test('PUT and PATCH accept the id of the path in the body', async (t) => {
  for (const change of [put, patch]) {
    t.equal((await change({ id: ID, name: 'Acer', tag: 'x' })).status, 200)
    t.equal((await change(`{"id": ${ID}.0, "name": "Acer"}`)).status, 200, 'as JSON Schema says')
  }
})

t.test('PUT and PATCH reject another id, and leave both plants unchanged', async (t) => {
  // The closest double is the id of the path.
  const other = ID - 1n
  await importPlants(service.store, [{ id: other, name: 'Other' }], 'replace')
  for (const change of [put, patch]) {
    const answer = await change({ id: other, name: 'Acer' })
    await assertUntouched(t, 400, answer)
    const message = `body/id is ${other}, but the path has the id ${ID}`
    t.same(answer.json, { error: 40005, message })
    t.match(await service.stored(other), { name: 'Other' })
  }
})

t.test(
  'another id in the body is reported before a missing plant or a failed If-Match',
  async (t) => {
    for (const method of ['PUT', 'PATCH']) {
      const body = { id: 5n, name: 'Acer' }
      t.equal((await service.call({ method, path: '/plants/404', body })).status, 400)
      const headers = { 'if-match': '"other"' }
      t.equal((await service.call({ method, path: PATH, body, headers })).status, 400)
    }
  },
)

t.test('neither PUT nor PATCH creates a plant', async (t) => {
  for (const method of ['PUT', 'PATCH']) {
    const answer = await service.call({ method, path: '/plants/404', body: { name: 'Acer' } })
    t.equal(answer.status, 404)
    t.same(answer.json, { error: 40402, message: 'plant 404 does not exist' })
    t.equal(await service.stored(404n), undefined)
  }
})

/** The cases of RFC 7396 §3 and appendix A that apply to a flat object of two strings. */
const PATCHES: [what: string, patch: string, stored: { name: string; tag: string | null }][] = [
  ['changes nothing when it is empty', '{}', { name: 'Abies', tag: 'Tree' }],
  ['changes a name and leaves the tag', '{"name": "Acer"}', { name: 'Acer', tag: 'Tree' }],
  ['changes a tag and leaves the name', '{"tag": "Shrub"}', { name: 'Abies', tag: 'Shrub' }],
  ['changes both', '{"tag": "", "name": ""}', { name: '', tag: '' }],
  ['removes a tag that is null', '{"tag": null}', { name: 'Abies', tag: null }],
  ['renames and removes', '{"tag": null, "name": "Acer"}', { name: 'Acer', tag: null }],
  ['ignores other members', '{"colour": "green", "x": null}', { name: 'Abies', tag: 'Tree' }],
  ['ignores __proto__', '{"__proto__": {"name": "Acer"}}', { name: 'Abies', tag: 'Tree' }],
  ['uses the last of repeated members', '{"tag": "a", "tag": null}', { name: 'Abies', tag: null }],
]
for (const [what, text, stored] of PATCHES) {
  t.test(`PATCH ${what}`, async (t) => {
    const answer = await patch(text)
    t.equal(answer.status, 200)
    const { name, tag } = stored
    t.strictSame(answer.json, tag === null ? { id: ID, name } : { id: ID, name, tag })
    t.equal(answer.headers.etag, await etagNow())
    t.same(await service.stored(ID), { id: ID, ...stored })
  })
}

t.test('PATCH adds a missing tag, and removing a missing tag is not an error', async (t) => {
  await put({ name: 'Abies' })
  t.equal((await patch({ tag: null })).body, `{"id":${ID},"name":"Abies"}`)
  t.equal((await patch({ tag: 'Tree' })).body, `{"id":${ID},"name":"Abies","tag":"Tree"}`)
})

t.test('strings are stored code point by code point', async (t) => {
  const text = '🌱\u{10ffff}e\u0301\ufeff\u2028\u0001"\\\uffff'
  t.strictSame((await put({ name: text, tag: text })).json, { id: ID, name: text, tag: text })
  t.strictSame((await patch({ name: 'x' })).json, { id: ID, name: 'x', tag: text })
  t.strictSame(await service.stored(ID), { id: ID, name: 'x', tag: text })
})

const UNSTORABLE = 'must not contain U+0000 or a lone surrogate'
const REJECTED: [method: string, body: string, error: number, message: string][] = [
  ...['null', '[]', '[{"name": "x"}]', '"x"', '5', 'true'].flatMap((body) =>
    ['PUT', 'PATCH'].map((method): [string, string, number, string] => [
      ...([method, body, 40002, 'body must be object'] as const),
    ]),
  ),
  ...['null', '7', 'true', '["x"]', '{}'].flatMap((value): [string, string, number, string][] => [
    ['PUT', `{"name": ${value}}`, 40002, 'body/name must be string'],
    ['PATCH', `{"name": ${value}}`, 40002, 'body/name must be string'],
    ['PUT', `{"name": "x", "tag": ${value}}`, 40002, 'body/tag must be string'],
  ]),
  ...['7', 'false', '["x"]', '{}'].map((value): [string, string, number, string] => [
    ...(['PATCH', `{"name": "x", "tag": ${value}}`, 40002] as const),
    'body/tag must be string or null',
  ]),
  ...['\\u0000', '\\ud800', 'x\\udc00'].flatMap((text): [string, string, number, string][] => [
    ['PUT', `{"name": "${text}"}`, 40002, `body/name ${UNSTORABLE}`],
    ['PATCH', `{"name": "${text}"}`, 40002, `body/name ${UNSTORABLE}`],
    ['PATCH', `{"tag": "${text}"}`, 40002, `body/tag ${UNSTORABLE}`],
  ]),
  ...['null', '"4"', '4.5', '9223372036854775808'].flatMap(
    (id): [string, string, number, string][] => [
      ['PUT', `{"id": ${id}, "name": "x"}`, 40002, 'body/id must be an int64'],
      ['PATCH', `{"id": ${id}}`, 40002, 'body/id must be an int64'],
    ],
  ),
  ['PUT', '{}', 40002, "body must have required property 'name'"],
  ['PUT', '{"tag": "x"}', 40002, "body must have required property 'name'"],
  ['PUT', '{', 40001, 'body is not valid JSON'],
  ['PATCH', '', 40001, 'body is not valid JSON'],
  ['PATCH', `${'['.repeat(65)}${']'.repeat(65)}`, 40001, 'body is nested deeper than 64 levels'],
]
for (const [method, body, error, message] of REJECTED) {
  t.test(`${method} of ${body.slice(0, 30)} is rejected`, async (t) => {
    const answer = await service.call({ method, path: PATH, body })
    await assertUntouched(t, 400, answer)
    t.match(answer.json, { error, message })
  })
}

t.test('a missing, oversized or encoded body is rejected', async (t) => {
  for (const method of ['PUT', 'PATCH']) {
    const call = { method, path: PATH }
    const missing = await service.call({ ...call, headers: { 'content-length': '0' } })
    await assertUntouched(t, 400, missing)
    t.match(missing.json, { error: 40002, message: 'body is required' })
    await assertUntouched(
      t,
      413,
      await service.call({ ...call, body: `{"name": "${'x'.repeat(2 ** 20)}"}` }),
    )
    const headers = { 'content-encoding': 'gzip' }
    await assertUntouched(t, 415, await service.call({ ...call, body: { name: 'x' }, headers }))
  }
})

for (const [method, path, right, wrong] of [
  [
    'PATCH',
    PATH,
    [PATCH_TYPE, JSON_TYPE],
    ['application/json-patch+json', 'text/plain', '*/*', ''],
  ],
  ['PUT', PATH, [JSON_TYPE], [PATCH_TYPE, 'application/x-www-form-urlencoded', '']],
  ['POST', '/plants', [JSON_TYPE], [PATCH_TYPE, '']],
] as const) {
  const body = { id: ID, name: 'Abies', tag: 'Tree' }
  t.test(`${method} accepts only ${right}`, async (t) => {
    const message = `the Content-Type must be ${right.join(' or ')}`
    for (const type of wrong) {
      const headers = { 'content-type': type }
      const answer = await service.call({ method, path, body: { id: ID, name: 'x' }, headers })
      await assertUntouched(t, 415, answer)
      t.same(answer.json, { error: 41501, message })
    }
    for (const type of right.flatMap(variants)) {
      const answer = await service.call({ method, path, body, headers: { 'content-type': type } })
      t.equal(answer.status, 200, type)
    }
    for (const type of right) {
      const headers = { 'content-type': `${type}; charset=latin1` }
      const answer = await service.call({ method, path, body, headers })
      t.match(answer.json, { error: 41502 })
    }
  })
}

function variants(type: string): string[] {
  return [type, type.toUpperCase(), `${type};charset=utf-8`, `${type}; x="y"`]
}

t.test('PATCH treats application/json like application/merge-patch+json', async (t) => {
  const headers = { 'content-type': JSON_TYPE }
  const rejected = await patch('{"name": "x", "tag": 7}', { headers })
  await assertUntouched(t, 400, rejected)
  t.match(rejected.json, { error: 40002, message: 'body/tag must be string or null' })
  t.same((await patch({ tag: null }, { headers })).json, { id: ID, name: 'Abies' })
  t.same(await service.stored(ID), { id: ID, name: 'Abies', tag: null })
})

t.test('the list shows a changed plant under its new tag only', async (t) => {
  await patch({ tag: 'moved' })
  const list = (tag: string) => service.call({ method: 'GET', path: `/plants?tag=${tag}` })
  t.same((await list('Tree')).json, [])
  t.same((await list('moved')).json, [{ id: ID, name: 'Abies', tag: 'moved' }])
})

async function assertUntouched(t: Test, status: number, answer: { status: number; body: string }) {
  t.equal(answer.status, status, answer.body)
  t.same(await service.stored(ID), { id: ID, name: 'Abies', tag: 'Tree' })
}

t.test('a 415 lists the accepted types for PATCH but not for PUT', async (t) => {
  const types = 'application/merge-patch+json, application/json'
  for (const headers of [
    { 'content-type': 'application/json-patch+json' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'gzip' },
  ]) {
    for (const [method, expected] of Object.entries({ PATCH: types, PUT: undefined })) {
      const answer = await service.call({ method, path: PATH, body: { name: 'x' }, headers })
      t.equal(answer.status, 415)
      t.equal(answer.headers['accept-patch'], expected, 'RFC 5789 §2.2')
    }
  }
})
