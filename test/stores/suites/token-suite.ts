import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { SELECTOR_BYTES, type StoredToken, TokenStore } from '../../../service/token-store.ts'
import type { Store } from '../../../src/stores/shared/store.ts'
import { type Engine, opener } from '../store-suite.ts'

const AT = new Date('2026-11-20T12:34:56.789Z')

/** How often stores race. */
const ROUNDS = 6

/** The requirements of TokenStore. */
export function tokenSuite(t: Test, engine: Engine): void {
  let store: Store
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
  })

  t.beforeEach(async () => {
    for (const { name } of await new TokenStore(store).list())
      await new TokenStore(store).remove(name)
  })

  for (const [what, fields] of [
    ['every field', { expiresAt: new Date(8.64e15), lastUsedAt: new Date(1) }],
    ['an expiry', { expiresAt: new Date('2027-01-01T00:00:00.001Z') }],
    ['only the required fields', {}],
    ['one scope', { scopes: ['write'] }],
    ['no scope', { scopes: [] }],
    ['dates at the epoch', { createdAt: new Date(0), expiresAt: new Date(0) }],
    ['a name with special characters', { name: " it's a \u{1f331}; -- " }],
  ] as [string, Partial<StoredToken>][]) {
    t.test(`a token with ${what} is returned as it was added`, async (t) => {
      const token = tokenOf('ci', fields)
      t.equal(await new TokenStore(store).add(token), true)
      t.same(comparable(await findToken(store, token)), comparable(token))
      t.same((await new TokenStore(store).list()).map(comparable), [comparable(token)])
    })
  }

  t.test('a token is found only by its selector', async (t) => {
    const tokens = ['a', 'b', 'c'].map((name) => tokenOf(name))
    for (const token of tokens) await new TokenStore(store).add(token)
    for (const token of tokens) {
      t.same(comparable(await findToken(store, token)), comparable(token))
      const near = Buffer.from(token.digest.subarray(0, SELECTOR_BYTES))
      near.writeUInt8(near.readUInt8(SELECTOR_BYTES - 1) ^ 1, SELECTOR_BYTES - 1)
      t.equal(await new TokenStore(store).find(near), undefined)
      t.equal(
        await new TokenStore(store).find(token.digest.subarray(0, SELECTOR_BYTES - 1)),
        undefined,
      )
      t.equal(await new TokenStore(store).find(token.digest), undefined)
    }
    t.equal(await new TokenStore(store).find(new Uint8Array()), undefined)
  })

  t.test('tokens are listed by name, in code point order', async (t) => {
    t.same(await new TokenStore(store).list(), [])
    const names = ['-', '.', '10', '9', 'B', 'CI', '_', 'a', 'a-b', 'a.b', 'aB', 'ab', 'ci', 'é']
    for (const name of names.toReversed()) await new TokenStore(store).add(tokenOf(name))
    t.same(
      (await new TokenStore(store).list()).map(({ name }) => name),
      names,
    )
  })

  t.test('exactly one of several concurrent tokens with the same name is added', async (t) => {
    const tokens = Array.from({ length: 100 }, () => tokenOf('ci'))
    const added = await Promise.all(tokens.map((token) => new TokenStore(store).add(token)))
    t.equal(added.filter(Boolean).length, 1)
    const winner = tokens[added.indexOf(true)] as StoredToken
    t.same((await new TokenStore(store).list()).map(comparable), [comparable(winner)])
  })

  t.test('a first token is added only to an empty store', async (t) => {
    t.equal(await new TokenStore(store).add(tokenOf('first'), 1), true)
    t.equal(await new TokenStore(store).add(tokenOf('second'), 1), false)
    t.equal(await new TokenStore(store).remove('first'), true)
    await new TokenStore(store).add(tokenOf('another'))
    t.equal(await new TokenStore(store).add(tokenOf('third'), 1), false)
    await new TokenStore(store).remove('another')
    t.equal(await new TokenStore(store).add(tokenOf('fourth'), 1), true)
    t.same(
      (await new TokenStore(store).list()).map(({ name }) => name),
      ['fourth'],
    )
  })

  t.test('exactly one of several concurrent first tokens is added', async (t) => {
    const open = await opener(t, engine)
    const stores = [await open(), await open(), await open()]
    for (let round = 0; round < ROUNDS; round++) {
      const racing = stores.flatMap((store, number) =>
        Array.from({ length: 10 }, (_, index) => ({ store, token: tokenOf(`${number} ${index}`) })),
      )
      const added = await Promise.all(
        racing.map(({ store, token }) => new TokenStore(store).add(token, 1)),
      )
      t.equal(added.filter(Boolean).length, 1)
      const winner = racing[added.indexOf(true)]?.token as StoredToken
      for (const store of stores) {
        t.same((await new TokenStore(store).list()).map(comparable), [comparable(winner)])
      }
      await new TokenStore(stores[0] as Store).remove(winner.name)
    }
  })

  t.test('remove deletes one token and frees its name', async (t) => {
    const [gone, stays] = [tokenOf('ci'), tokenOf('laptop')]
    await new TokenStore(store).add(gone)
    await new TokenStore(store).add(stays)
    t.equal(await new TokenStore(store).remove('c%'), false)
    t.equal(await new TokenStore(store).remove('ci'), true)
    t.equal(await new TokenStore(store).remove('ci'), false)
    t.equal(await findToken(store, gone), undefined)
    t.same((await new TokenStore(store).list()).map(comparable), [comparable(stays)])
    t.equal(await new TokenStore(store).add(tokenOf('ci')), true)
  })

  t.test('the latest noted use is kept', async (t) => {
    const [used, unused] = [tokenOf('ci'), tokenOf('laptop')]
    await new TokenStore(store).add(used)
    await new TokenStore(store).add(unused)
    for (const lastUsedAt of [AT, new Date(AT.getTime() + 60_001)]) {
      await new TokenStore(store).noteUse('ci', lastUsedAt)
      t.same(comparable(await findToken(store, used)), comparable({ ...used, lastUsedAt }))
    }
    t.same(comparable(await findToken(store, unused)), comparable(unused))
  })

  t.test('noting the use of a removed token has no effect', async (t) => {
    await new TokenStore(store).noteUse('ci', AT)
    t.same(await new TokenStore(store).list(), [])
  })

  t.test('changes are visible to other stores at once', async (t) => {
    const open = await opener(t, engine)
    const [one, other] = [await open(), await open()]
    for (let round = 0; round < ROUNDS; round++) {
      const token = tokenOf('ci')
      await new TokenStore(one).add(token)
      t.same(comparable(await findToken(other, token)), comparable(token))
      await new TokenStore(other).noteUse('ci', AT)
      t.same((await findToken(one, token))?.lastUsedAt, AT)
      await new TokenStore(one).remove('ci')
      t.equal(await findToken(other, token), undefined)
      t.same(await new TokenStore(other).list(), [])
    }
  })

  t.test('tokens survive closing and reopening the store', async (t) => {
    const open = await opener(t, engine)
    const token = tokenOf('ci', { expiresAt: AT })
    const before = await open()
    await new TokenStore(before).add(token)
    await new TokenStore(before).noteUse('ci', AT)
    await before.close()
    const after = await open()
    t.same(comparable(await findToken(after, token)), comparable({ ...token, lastUsedAt: AT }))
  })
}

function tokenOf(name: string, fields: Partial<StoredToken> = {}): StoredToken {
  const digest = randomBytes(32)
  return { name, digest, scopes: ['read', 'write'], createdAt: AT, ...fields }
}

function findToken(store: Store, { digest }: StoredToken): Promise<StoredToken | undefined> {
  return new TokenStore(store).find(digest.subarray(0, SELECTOR_BYTES))
}

/** Normalizes a token for comparison, regardless of the type of its byte array. */
function comparable(token: StoredToken | undefined): unknown {
  return (
    token && Object.entries({ ...token, digest: Buffer.from(token.digest).toString('hex') }).sort()
  )
}
