import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import t from 'tap'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { SELECTOR_BYTES, TokenStore } from '../../service/token-store.ts'
import { AccessTokens } from '../../src/auth/access-tokens.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { CI, NOW, setUp, verify } from './token-setup.ts'

t.test('an issued token is 256 random bits with the requested scopes', async (t) => {
  const { tokens } = setUp(t)
  const one = (await tokens.issue(CI)) as string
  const other = (await tokens.issue({ name: 'laptop', scopes: ['read', 'write'] })) as string
  t.match(one, /^plant_[\w-]{43}$/)
  t.not(one, other)
  t.match(await verify(tokens, one), { name: 'ci', scopes: ['write'] })
  t.match(await verify(tokens, other), { name: 'laptop', scopes: ['read', 'write'] })
})

t.test('only an exact copy of an issued token is valid', async (t) => {
  const { tokens } = setUp(t)
  const token = (await tokens.issue(CI)) as string
  const last = token.endsWith('A') ? 'B' : 'A'
  const digest = hash('sha256', token)
  for (const wrong of [
    ...[
      '',
      'plant_',
      'ci',
      digest,
      token.slice(6),
      token.slice(0, -1),
      `${token.slice(0, -1)}${last}`,
    ],
    ...[`${token} `, ` ${token}`, `${token}\n`, `${token}\0`, `${token}=`, token.toUpperCase()],
  ]) {
    t.equal(await verify(tokens, wrong), undefined)
  }
})

t.test('a token expires exactly at the end of its lifetime', async (t) => {
  const { tokens, clock } = setUp(t)
  const token = (await tokens.issue({ ...CI, lifetimeMs: 90_000 })) as string
  for (const [after, valid] of [
    [0, true],
    [89_999, true],
    [90_000, false],
    [90_001, false],
    [1e12, false],
  ] as const) {
    clock.now = NOW + after
    t.equal((await verify(tokens, token)) !== undefined, valid, `after ${after} ms`)
  }
})

for (const [what, lifetimeMs, expiresAt] of [
  ['no lifetime', undefined, undefined],
  ['the longest lifetime that a Date can hold', 8.64e15, new Date(8.64e15)],
  ['an infinite lifetime', Number.POSITIVE_INFINITY, new Date(8.64e15)],
] as const) {
  t.test(`a token with ${what} is valid in a thousand years`, async (t) => {
    const { tokens, clock, store } = setUp(t)
    const token = (await tokens.issue({ ...CI, ...(lifetimeMs && { lifetimeMs }) })) as string
    clock.now = Date.parse('3026-01-01')
    t.match(await verify(tokens, token), { name: 'ci' })
    t.same((await new TokenStore(store).list())[0]?.expiresAt, expiresAt)
  })
}

t.test('a revoked token is invalid at once, including in other processes', async (t) => {
  const { tokens, watched } = setUp(t)
  const others = new AccessTokens(watched)
  const token = (await tokens.issue(CI)) as string
  t.ok(await verify(others, token))
  t.equal(await tokens.revoke('laptop'), false)
  t.equal(await tokens.revoke('ci'), true)
  t.equal(await verify(tokens, token), undefined)
  t.equal(await verify(others, token), undefined)
  t.equal(await tokens.revoke('ci'), false)
})

t.test(
  'requests of one turn of the event loop share a verification until a revocation',
  async (t) => {
    const { watched, tokens: issuer } = setUp(t)
    const token = (await issuer.issue(CI)) as string
    let lookups = 0
    const tokens = new AccessTokens({
      ...watched,
      remove: async () => true,
      find: (selector) => {
        lookups += 1
        return watched.find(selector)
      },
    })
    const both = await Promise.all([verify(tokens, token), verify(tokens, token)])
    t.match(both, [{ name: 'ci' }, { name: 'ci' }])
    t.equal(lookups, 1)
    await tokens.verify(`${token}x`)
    t.equal(lookups, 2, 'another token has its own verification')
    await tokens.revoke('ci')
    await tokens.verify(token)
    t.equal(lookups, 3, 'a revocation ends the sharing')
    await verify(tokens, token)
    t.equal(lookups, 4, 'the next turn verifies again')
  },
)

t.test('a valid token stays verified for one turn of the event loop', async (t) => {
  const { tokens } = setUp(t)
  const token = (await tokens.issue(CI)) as string
  await verify(tokens, token)
  t.match(tokens.verified(token), { name: 'ci', scopes: ['write'] })
  t.equal(tokens.verified(`${token}x`), undefined, 'another token is not')
  await tokens.verify(`${token}x`)
  t.equal(tokens.verified(`${token}x`), undefined, 'an invalid token is not')
  await nextTurn()
  t.equal(tokens.verified(token), undefined)
  await verify(tokens, token)
  await tokens.revoke('ci')
  t.equal(tokens.verified(token), undefined, 'a revoked token is not')
})

t.test('the fixed token has all scopes, even while the store is unavailable', async (t) => {
  const { tokens, store } = setUp(t, { name: 'fixed', token: 'fixed-in-the-environment' })
  const issued = (await tokens.issue(CI)) as string
  t.match(await verify(tokens, issued), { scopes: ['write'] }, 'other tokens stay valid')
  t.equal(await verify(tokens, 'fixed-in-the-environmenT'), undefined)
  await store.close()
  const grant = { name: 'fixed', scopes: ['read', 'write'] }
  t.same(await verify(tokens, 'fixed-in-the-environment'), grant)
  await t.rejects(verify(tokens, issued), 'other tokens need the store')
})

t.test('a token whose digest matches only in the selector is invalid', async (t) => {
  const token = 'presented'
  const digest = hash('sha256', token, 'buffer')
  const near = Buffer.concat([digest.subarray(0, SELECTOR_BYTES), randomBytes(32 - SELECTOR_BYTES)])
  const oneBitOff = Buffer.from(digest)
  oneBitOff.writeUInt8(oneBitOff.readUInt8(31) ^ 1, 31)
  for (const [stored, valid] of [
    [near, false],
    [oneBitOff, false],
    [digest, true],
  ] as const) {
    const { store, tokens } = setUp(t)
    await new TokenStore(store).add({ ...CI, digest: stored, createdAt: new Date(NOW) })
    t.ok(
      await new TokenStore(store).find(digest.subarray(0, SELECTOR_BYTES)),
      'the selector finds it',
    )
    t.equal((await verify(tokens, token)) !== undefined, valid)
  }
})

t.test('an unavailable store is an error, not an invalid token', async (t) => {
  const { watched } = setUp(t)
  const find = async () => {
    throw new StoreUnavailable('busy', 'SQLITE_BUSY')
  }
  await t.rejects(new AccessTokens({ ...watched, find }).verify('any'), StoreUnavailable)
})

t.test('neither the stored nor the listed data reveals a token', async (t) => {
  let store: SqliteStore | undefined
  t.teardown(() => store?.close())
  const folder = t.testdir()
  store = new SqliteStore({ file: join(folder, 'plants.db'), lockTimeout: 60_000 })
  const tokens = new AccessTokens(new TokenStore(store))
  const token = (await tokens.issue({ name: 'ci', scopes: ['read'], lifetimeMs: 1e6 })) as string
  await verify(tokens, token)
  const random = token.slice('plant_'.length)
  const secret = Buffer.from(random, 'base64url')
  const secrets = [Buffer.from(random), secret, secret.toString('hex')]
  const listed = inspect(await new TokenStore(store).list(), { maxArrayLength: null })
  const grant = inspect(await verify(tokens, token), { maxArrayLength: null })
  t.notOk([listed, grant].some((text) => text.includes(random)))

  const bytesOnDisk = () =>
    Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))))
  for (const when of ['open', 'closed']) {
    if (when === 'closed') await store.close()
    for (const secret of secrets) t.notOk(bytesOnDisk().includes(secret), when)
    t.ok(bytesOnDisk().includes(hash('sha256', token)), `the digest is stored, ${when}`)
  }
})
