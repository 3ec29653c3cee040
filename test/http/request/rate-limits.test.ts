/** Rate limits: per token, and per address for requests without a valid token. */

import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { TokenStore } from '../../../service/token-store.ts'
import { addressKey, failureLimit } from '../../../src/http/request/rate-limit.ts'
import type { Answer } from '../../helpers/service/contract-check.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

/** Allows ten failures, then none for ten hours. */
const TEN_FAILURES = { requests: 1, window: 3_600_000 }

const read = { method: 'GET', path: '/plants' }

/** Sends requests with an unknown token that appear to come from an address, and returns the responses. */
async function fail(service: Service, count: number, address = '192.0.2.1'): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let sent = 0; sent < count; sent++) {
    const token = sent % 2 === 0 ? null : `a-wrong-token-${sent}`
    answers.push(await service.call({ ...read, token, headers: forwarded(address) }))
  }
  return answers
}

function forwarded(address: string) {
  return { 'x-forwarded-for': address }
}

function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status)
}

/** A service whose clients choose their addresses. */
let service: Service
t.before(async () => {
  const config = { authFailureLimit: TEN_FAILURES, trustProxy: '127.0.0.1' }
  service = await startService(t, { config })
})

t.test('an address that has used up its failures gets 429', async (t) => {
  t.same(new Set(statusesOf(await fail(service, 10))), new Set([401]))
  const [answer] = await fail(service, 1)
  t.match(answer, {
    status: 429,
    headers: {
      'retry-after': /^3[56]\d{3}$/,
      'ratelimit-policy': '"failed-authentication";q=10;w=36000',
      ratelimit: /^"failed-authentication";r=0;t=3[56]\d{3}$/,
    },
    body: /"error":42901,/,
  })
  t.same(statusesOf(await fail(service, 1, '192.0.2.2')), [401], 'another address is not limited')
  const ready = await service.call({ method: 'GET', path: '/health/ready', token: null })
  t.equal(ready.status, 200, 'requests that need no token are not limited')
})

t.test('requests from a limited address do not reach the store', async (t) => {
  let asked = 0
  const service = await startService(t, {
    config: { authFailureLimit: TEN_FAILURES },
    instead: {
      findRecord: async () => {
        asked++
        return undefined
      },
    },
  })
  for (let sent = 0; sent < 12; sent++) await service.call({ ...read, token: `wrong-${sent}` })
  t.equal(asked, 10)
})

t.test('a previously valid token is exempt from the limit per address', async (t) => {
  const address = '192.0.2.3'
  const headers = forwarded(address)
  const unseen = await service.issueToken('unseen', ['read'])
  const revoked = await service.issueToken('revoked', ['read'])
  for (const token of [service.token, revoked]) {
    t.equal((await service.call({ ...read, token, headers })).status, 200)
  }
  await fail(service, 10, address)
  t.equal((await service.call({ ...read, headers })).status, 200)
  t.equal((await service.call({ ...read, token: unseen, headers })).status, 429)
  await new TokenStore(service.store).remove('revoked')
  const answer = await service.call({ ...read, token: revoked, headers })
  t.equal(answer.status, 429, 'a revoked token is rejected and no longer known')
  t.equal(
    (await service.call({ ...read, token: unseen })).status,
    200,
    'it is valid from another address',
  )
})

t.test('X-Forwarded-For is used only if it comes from a trusted proxy', async (t) => {
  const service = await startService(t, {
    config: { authFailureLimit: TEN_FAILURES, trustProxy: '192.0.2.0/24' },
  })
  for (let sent = 0; sent < 11; sent++) {
    const token = await service.issueToken(`token-${sent}`, ['read'])
    t.equal((await service.call({ ...read, token })).status, 200, 'valid tokens do not count')
  }
  for (let sent = 0; sent < 10; sent++) await fail(service, 1, `198.51.100.${sent}`)
  t.same(statusesOf(await fail(service, 1, '198.51.100.99')), [429])
})

t.test('failures are not limited if the limit is off', async (t) => {
  t.equal(failureLimit({} as FastifyInstance, 'off'), undefined)
})

t.test('--rate-limit limits the requests of a token', async (t) => {
  const service = await startService(t, {
    config: { rateLimit: { requests: 3, window: 60_000 } },
  })
  const other = await service.issueToken('other', ['read'])
  for (let sent = 0; sent < 3; sent++) t.equal((await service.call(read)).status, 200)
  t.match(await service.call(read), {
    status: 429,
    headers: {
      'retry-after': /^(5\d|60)$/,
      'ratelimit-policy': '"requests";q=3;w=60',
      ratelimit: /^"requests";r=0;t=(5\d|60)$/,
    },
    json: { error: 42902, message: 'this access token exceeded its limit of 3 requests in 60 s' },
  })
  t.equal(
    (await service.call({ ...read, token: other })).status,
    200,
    'another token is not limited',
  )
})

t.test('after the window, requests are allowed again', async (t) => {
  const once = { requests: 1, window: 100 }
  const service = await startService(t, { config: { rateLimit: once } })
  for (const status of [200, 429, 200]) while ((await service.call(read)).status !== status);
  t.pass()
})

t.test('setting the clock back does not prolong a limit', async (t) => {
  const service = await startService(t, {
    config: { authFailureLimit: TEN_FAILURES, rateLimit: { requests: 1, window: 60_000 } },
  })
  t.equal((await service.call(read)).status, 200)
  t.equal((await service.call(read)).status, 429)
  t.same(statusesOf(await fail(service, 11)).slice(9), [401, 429])
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => now() - 1000 * 3_600_000
  // The first request of each kind starts new windows, and is not counted.
  for (const status of [200, 200, 429]) t.equal((await service.call(read)).status, status)
  t.same(statusesOf(await fail(service, 12)).slice(10), [401, 429])
})

const KEYS: [address: string, key: string][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:0201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:c000:202', '192.0.2.2'],
  ['::ffff:0:c000:202', '::'],
  ['192.0.2.1:50123', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:db8::1', '2001:db8::'],
  ['2001:0DB8:0::1', '2001:db8::'],
  ['::1', '::'],
  ['fe80::1%eth0', 'fe80::'],
  ['1:2:3:4:5:6:7::', '1:2:3:4::'],
  ['1::4:5:6:7:8', '1:0:0:4::'],
  ['something a proxy made up', 'something a pro'],
]
t.test('an IPv6 address counts with all others of its network', async (t) => {
  for (const [address, key] of KEYS) t.equal(addressKey(address), key, address)
})
