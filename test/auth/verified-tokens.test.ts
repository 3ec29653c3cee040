/** How long the service trusts a token that it has verified. */
import { hash } from 'node:crypto'
import t from 'tap'
import { IssuerTokens } from '../../src/auth/issuer-tokens.ts'
import { Issuer, newKey } from '../helpers/network/issuer.ts'

const issuer = new Issuer(443)
// RSA signatures are the fastest to verify.
const keys = [await newKey('RS256'), await newKey()] as const
const sets = keys.map(({ open }) => JSON.stringify({ keys: [open] })) as [string, string]

/** Verifies tokens with a clock that can be set, and keys that can be replaced. */
function setUp() {
  const state = {
    now: Date.now(),
    read: async (): Promise<string | undefined> => sets[0],
    reads: 0,
  }
  const tokens = new IssuerTokens({
    issuer: issuer.url,
    audience: 'urn:plants',
    scopes: { read: 'plants:read', write: 'plants:write' },
    readKeys: async () => {
      state.reads++
      return { json: await state.read(), isNew: true, retryAfterMs: 0 }
    },
    clock: { now: () => state.now },
  })
  const verify = (token: string, digest = hash('sha256', token, 'buffer')) =>
    tokens.verify(token, digest)
  const isValid = async (token: string) => (await verify(token)) !== undefined
  return { state, verify, isValid }
}

const sign = (key: 0 | 1, claims = {}) => {
  const exp = Math.floor(Date.now() / 1000) + 86_400
  return issuer.sign({ exp, ...claims }, {}, keys[key])
}

const nextTurn = () => new Promise(setImmediate)
const TEN_MINUTES = 600_000

t.test('the keys are read again after ten minutes, and withdrawn ones are forgotten', async (t) => {
  const { state, isValid } = setUp()
  const [first, second] = await Promise.all([sign(0), sign(1)])
  t.ok(await isValid(first))
  state.read = async () => sets[1]
  state.now += TEN_MINUTES - 1
  t.ok(await isValid(first))
  t.equal(state.reads, 1)
  state.now += 1
  t.ok(await isValid(first), 'nothing waits for the keys')
  await nextTurn()
  t.notOk(await isValid(first))
  t.ok(await isValid(second))
  t.equal(state.reads, 3, 'the second key was known, but the first one no longer')
})

t.test('if the keys cannot be read again, they stay in use', async (t) => {
  const { state, isValid } = setUp()
  const token = await sign(0)
  t.ok(await isValid(token))
  for (const read of [async () => undefined, () => Promise.reject(new Error('ended'))]) {
    state.read = read
    state.now += TEN_MINUTES
    t.ok(await isValid(token))
    await nextTurn()
    t.ok(await isValid(token))
    t.ok(await isValid(await sign(0, { jti: `${state.now}` })))
  }
  t.equal(state.reads, 3)
})

t.test('a token that is verified while its key is withdrawn is verified again', async (t) => {
  const { state, isValid } = setUp()
  await nextTurn()
  state.read = async () => sets[1]
  state.now += TEN_MINUTES
  const token = await sign(0)
  t.ok(await isValid(token))
  await nextTurn()
  t.notOk(await isValid(token))
})

t.test('ten thousand tokens are remembered', async (t) => {
  const { state, verify } = setUp()
  // Within the leeway. Once the clock is set back, it would not be verified again.
  const token = await sign(0, { nbf: Math.floor(state.now / 1000) + 50 })
  const isKnown = async (digest: number) =>
    (await verify(token, Buffer.from(`${digest}`))) !== undefined
  t.ok(await isKnown(0))
  for (let digest = 1; digest <= 10_000; digest += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => isKnown(digest + index)))
  }
  state.now -= 20_000
  t.ok(await isKnown(1))
  t.ok(await isKnown(10_000))
  t.notOk(await isKnown(0))
})
