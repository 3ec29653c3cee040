/** An access token of an issuer, which is replaced before it expires. */
import t, { type Test } from 'tap'
import { FreshToken, type Tokens } from '../../page/access/fresh-token.ts'
import { SignInError } from '../../page/errors/sign-in-error.ts'

const FIRST: Tokens = {
  access_token: 'first',
  expires_in: 300,
  refresh_token: 'refresh',
}

const UNAVAILABLE = new SignInError('unavailable', 'the issuer is unavailable')

/** Replaces the clock. Returns a function that advances it. */
function stopClock(t: Test): (seconds: number) => void {
  let now = 1e12
  t.intercept(Date, 'now', { value: () => now })
  return (seconds) => {
    now += 1000 * seconds
  }
}

t.test('a token is replaced a minute before it expires', async (t) => {
  const advance = stopClock(t)
  const used: string[] = []
  const token = new FreshToken(FIRST, async (refreshToken) => {
    used.push(refreshToken)
    return { access_token: `after ${refreshToken}`, refresh_token: `${refreshToken}+` }
  })
  advance(239)
  t.equal(await token.get(), 'first')
  t.same(used, [])
  advance(1)
  t.same(await Promise.all([token.get(), token.get()]), ['after refresh', 'first'])
  t.same(used, ['refresh'])
  advance(300)
  const last = 'after refresh+'
  t.same(await Promise.all([token.get(), token.get()]), [last, last], 'both wait for one request')
  t.same(used, ['refresh', 'refresh+'])
})

t.test('a short-lived token is replaced in the middle of its life', async (t) => {
  const advance = stopClock(t)
  const token = new FreshToken({ ...FIRST, expires_in: 10 }, async () => ({ access_token: 'next' }))
  advance(4)
  t.equal(await token.get(), 'first')
  advance(1)
  t.equal(await token.get(), 'next')
})

t.test('a token without a known lifetime is not replaced', async (t) => {
  const advance = stopClock(t)
  const { expires_in, ...endless } = FIRST
  const token = new FreshToken(endless, async () => t.fail() as never)
  advance(1e9)
  t.equal(await token.get(), 'first')
})

t.test('while the issuer is unavailable, a token is used until it expires', async (t) => {
  const advance = stopClock(t)
  let attempts = 0
  let isAvailable = false
  const token = new FreshToken(FIRST, async () => {
    attempts++
    if (!isAvailable) throw UNAVAILABLE
    return { access_token: 'second' }
  })
  advance(240)
  t.equal(await token.get(), 'first')
  t.equal(await token.get(), 'first')
  t.equal(attempts, 1, 'the next request does not wait for it')
  advance(5)
  t.equal(await token.get(), 'first')
  t.equal(attempts, 2)
  advance(45)
  await t.rejects(token.get(), UNAVAILABLE)
  await t.rejects(token.get(), UNAVAILABLE)
  t.equal(attempts, 4, 'each request asks for a token')
  isAvailable = true
  t.equal(await token.get(), 'second')
})

t.test('without a refresh token, the session ends when the token expires', async (t) => {
  const advance = stopClock(t)
  const { refresh_token, ...single } = FIRST
  const token = new FreshToken(single, async () => t.fail() as never)
  advance(280)
  t.equal(await token.get(), 'first')
  advance(10)
  await t.rejects(token.get(), { message: 'Your session has ended.' })
})
