/** Access tokens of an OpenID Connect issuer (RFC 9068), from a real provider. */
import { createPublicKey } from 'node:crypto'
import { base64url, decodeJwt, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { EventStream } from '../helpers/network/event-stream.ts'
import { type Issuer, newKey, type SigningKey, startIssuer } from '../helpers/network/issuer.ts'
import { type Service, startService } from '../helpers/service/service.ts'

let issuer: Issuer
let service: Service
let stranger: SigningKey
const reasons: string[] = []

t.before(async () => {
  issuer = await startIssuer(t)
  const write = (line: string) => {
    const { msg } = JSON.parse(line)
    if (msg.startsWith('rejected a token of the issuer: ')) reasons.push(msg)
  }
  const logger = { level: 'debug', stream: { write } }
  service = await startService(t, { config: issuer.config, logger, issuer: { cooldownMs: 0 } })
  stranger = await newKey()
})

const read = { method: 'GET', path: '/plants' }
const inspect = { method: 'GET', path: '/token' }
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

t.test('a token from the token endpoint is accepted, next to those of the service', async (t) => {
  const token = await issuer.token()
  t.equal((await service.call({ token, body: { id: 1n, name: 'Abies' } })).status, 200)
  t.strictSame((await service.call({ ...read, token })).json, [{ id: 1n, name: 'Abies' }])
  t.equal((await service.call(read)).status, 200)
  const { json } = await service.call({ ...inspect, token })
  t.match(json, { name: 'robot', scopes: ['read', 'write'], expiresAt: /Z$/ })
})

t.test('an expiry is shown exactly', async (t) => {
  const exp = inSeconds(100)
  const token = await issuer.sign({ exp, name: 'Ada Lovelace' })
  t.strictSame((await service.call({ ...inspect, token })).json, {
    name: 'Ada Lovelace',
    scopes: ['read', 'write'],
    expiresAt: new Date(1000 * exp).toISOString(),
  })
})

const SCOPES: [what: string, claims: JWTPayload, scopes: string[]][] = [
  ['a scope', { scope: 'plants:read' }, ['read']],
  ['a list of scopes', { scope: 'openid plants:write email' }, ['write']],
  ['an array as scp', { scope: undefined, scp: ['plants:write', 'x'] }, ['write']],
  ['a string as scp', { scope: undefined, scp: 'plants:read plants:write' }, ['read', 'write']],
  ['similar scopes', { scope: 'plants plants:reader Plants:read plants:read:all' }, []],
  ['no scope claim', { scope: undefined }, []],
  ['a role', { scope: undefined, roles: ['x', 'plants:read'] }, ['read']],
  [
    'a permission',
    { scope: undefined, roles: ['plants:read'], permissions: ['plants:write'] },
    ['read', 'write'],
  ],
  [
    'roles that are similar',
    { scope: undefined, roles: ['plants:read x', 'Plants:read', ['plants:read'], 7, null] },
    [],
  ],
  ['roles of another type', { scope: undefined, roles: 'plants:read', permissions: {} }, []],
  ['a role next to an empty scope', { scope: '', roles: ['plants:write'] }, []],
  ['a permission next to scp', { scope: undefined, scp: ['x'], permissions: ['plants:write'] }, []],
  ['a scope of another type', { scope: 7, scp: { 'plants:read': true } }, []],
]
for (const [what, claims, scopes] of SCOPES) {
  t.test(`${what} grants ${scopes.join(' and ') || 'nothing'}`, async (t) => {
    const token = await issuer.sign(claims)
    t.match((await service.call({ ...inspect, token })).json, { scopes })
    const { status, headers } = await service.call({ ...read, token })
    t.equal(status, scopes.includes('read') ? 200 : 403)
    if (status === 200) return
    t.match(
      headers['www-authenticate'],
      'error="insufficient_scope", scope="plants:read", resource_',
    )
  })
}

t.test('the scopes can have other names, even the same one', async (t) => {
  const scopes = { oidcReadScope: 'plants', oidcWriteScope: 'plants' }
  const setting = 'a.token.of.the.environment'
  const other = await startService(t, { config: { ...issuer.config, ...scopes, token: setting } })
  const token = await issuer.sign({ scope: 'plants' })
  t.match((await other.call({ ...inspect, token })).json, { scopes: ['read', 'write'] })
  t.equal((await other.call({ ...read, token: setting })).status, 200, 'a setting can have dots')
})

const ACCEPTED: [what: string, token: () => Promise<string>][] = [
  ['one of several audiences', () => issuer.sign({ aud: ['urn:other', 'urn:plants'] })],
  ['a media type as type', () => issuer.sign({}, { typ: 'application/at+JWT' })],
  ['the type JWT', () => issuer.sign({}, { typ: 'JWT' })],
  ['no type', () => issuer.sign({}, { typ: undefined as never })],
  ['no key id', () => issuer.sign({}, { kid: undefined as never })],
  ['a beginning within the leeway', () => issuer.sign({ nbf: inSeconds(50) })],
  ['no end in sight', () => issuer.sign({ exp: Number.MAX_VALUE })],
  ['9 kB', () => issuer.sign({ padding: 'x'.repeat(6600) })],
]
for (const [what, sign] of ACCEPTED) {
  t.test(`a token with ${what} is accepted, also when it is repeated`, async (t) => {
    const token = await sign()
    for (let use = 0; use < 2; use++) t.equal((await service.call({ ...read, token })).status, 200)
  })
}

/** Replaces the header of a token, whose signature then no longer fits. */
const withHeader = async (header: object) => {
  const [, ...rest] = (await issuer.sign()).split('.')
  return [base64url.encode(JSON.stringify(header)), ...rest].join('.')
}

/** Signs with a key that is not the issuer's, but names one that is. */
const forge = (header: Partial<JWTHeaderParameters> = {}) =>
  issuer.sign({}, { kid: String(issuer.signingKey.open.kid), ...header }, stranger)

const REJECTED: [what: string, reason: RegExp, token: () => Promise<string> | string][] = [
  [
    'alg none',
    /"alg"/,
    () => withHeader({ alg: 'none' }).then((token) => token.replace(/[^.]*$/, '')),
  ],
  ['alg none and a signature', /"alg"/, () => withHeader({ alg: 'none', typ: 'at+jwt' })],
  [
    'HS256 and the public key as its secret',
    /"alg"/,
    async () => {
      const { open } = issuer.signingKey
      const key = createPublicKey({ key: open, format: 'jwk' })
      return new SignJWT(decodeJwt(await issuer.sign()))
        .setProtectedHeader({ alg: 'HS256', kid: String(open.kid), typ: 'at+jwt' })
        .sign(Buffer.from(key.export({ type: 'spki', format: 'pem' })))
    },
  ],
  ['the signature of another key', /signature verification failed/, () => forge()],
  ['an embedded key', /signature verification failed/, () => forge({ jwk: stranger.open })],
  ['a link to a key', /signature verification failed/, () => forge({ jku: `${issuer.url}/x` })],
  ['an unknown key', /no key/, () => issuer.sign({}, {}, stranger)],
  [
    'a critical extension',
    /not recognized/,
    () => issuer.sign({}, { crit: ['extension'], extension: 1 }),
  ],
  ['another issuer', /"iss"/, () => issuer.sign({ iss: 'https://id.example' })],
  ['the issuer with a slash', /"iss"/, () => issuer.sign({ iss: `${issuer.url}/` })],
  ['another audience', /"aud"/, () => issuer.sign({ aud: 'urn:other' })],
  ['no audience', /"aud"/, () => issuer.sign({ aud: undefined as never })],
  ['another type', /"typ"/, () => issuer.sign({}, { typ: 'logout+jwt' })],
  ['a type that is no string', /"typ"/, () => issuer.sign({}, { typ: 7 as never })],
  ['an expiry long ago', /"exp"/, () => issuer.sign({ exp: inSeconds(-100) })],
  ['an expiry just now', /"exp"/, () => issuer.sign({ exp: inSeconds(0) })],
  ['an expiry that is no number', /"exp"/, () => issuer.sign({ exp: `${inSeconds(9)}` as never })],
  ['no expiry', /"exp"/, () => issuer.sign({ exp: undefined as never })],
  ['a beginning in the future', /"nbf"/, () => issuer.sign({ nbf: inSeconds(1000) })],
  ['no subject', /"sub"/, () => issuer.sign({ sub: undefined as never })],
  ['an empty subject', /"sub"/, () => issuer.sign({ sub: '' })],
  ['a subject that is no string', /"sub"/, () => issuer.sign({ sub: 7 as never })],
  ['a subject of 256 characters', /"sub"/, () => issuer.sign({ sub: 'x'.repeat(256) })],
  ['a scope that is no text', /convert/, () => issuer.sign({ scope: [{ toString: 1 }] })],
  ['a truncated signature', /signature/, async () => (await issuer.sign()).slice(0, -1)],
  ['no signature', /signature/, async () => (await issuer.sign()).replace(/[^.]*$/, '')],
  ['another part', /Invalid/, async () => `${await issuer.sign()}.x`],
  ['nothing but dots', /invalid/, () => '..'],
  ['parts that are not JSON', /invalid/, () => 'a.b.c'],
]
for (const [what, reason, sign] of REJECTED) {
  t.test(`a token with ${what} is rejected, also when it is repeated`, async (t) => {
    const token = await sign()
    for (let use = 0; use < 2; use++) {
      await assertInvalid(t, service, token)
      t.match(reasons.pop(), reason)
    }
  })
}

t.test('the reason in the log has no control characters', async (t) => {
  const token = await withHeader({ alg: 'ES256', crit: ['\u001b[31m'], '\u001b[31m': 1 })
  await assertInvalid(t, service, token)
  t.match(reasons.pop(), '"\\x1B[31m" is not recognized')
})

t.test('a token longer than the head of a request can be gets 431', async (t) => {
  const token = await issuer.sign({ padding: 'x'.repeat(75_000) })
  t.match(await service.call({ ...read, token }), { status: 431, json: { error: 43101 } })
})

t.test('a token expires while it is in use, which ends its streams and long polls', async (t) => {
  const token = await issuer.sign({ exp: inSeconds(2) })
  const stream = await EventStream.open(t, service, { token })
  const poll = service.call({ method: 'GET', path: '/changes?after=latest&wait=60', token })
  await stream.end()
  t.match(await poll, { status: 200, json: [] })
  await assertInvalid(t, service, token)
})

t.test('log lines name the subject, and never the token', async (t) => {
  const lines: string[] = []
  const logger = { level: 'trace', stream: { write: (line: string) => lines.push(line) } }
  const config = { ...issuer.config, logRequests: 'all' } as const
  const other = await startService(t, { config, logger })
  const valid = await issuer.sign({ sub: 'ada', name: 'Ada Lovelace' })
  const tokens = [valid, await issuer.sign({ aud: 'urn:other' }), `${valid}x`]
  for (const token of tokens) await other.call({ ...read, token })
  await other.close()
  const sent = lines.map((line) => JSON.parse(line)).filter(({ status }) => status === 200)
  t.match(sent, [{ subject: 'ada' }])
  t.notOk('token' in sent[0])
  const parts = tokens.flatMap((token) => token.split('.'))
  for (const part of parts) t.notOk(lines.some((line) => line.includes(part)))
})

t.test('a rate limit counts all tokens of a subject, apart from a token of its name', async (t) => {
  const config = { ...issuer.config, rateLimit: { requests: 2, window: 3_600_000 } }
  const other = await startService(t, { config })
  const statuses: number[] = []
  for (const sub of ['ada', 'ada', 'ada', 'grace']) {
    const token = await issuer.sign({ sub, jti: `${statuses.length}` })
    statuses.push((await other.call({ ...read, token })).status)
  }
  const token = await other.issueToken('ada', ['read'])
  statuses.push((await other.call({ ...read, token })).status)
  t.strictSame(statuses, [200, 200, 429, 200, 200])
})

t.test('forged tokens count as failures, but do not lock out verified ones', async (t) => {
  const config = { ...issuer.config, authFailureLimit: { requests: 1, window: 3_600_000 } }
  const other = await startService(t, { config })
  const verified = await issuer.sign()
  const next = await issuer.sign({ jti: 'next' })
  t.equal((await other.call({ ...read, token: verified })).status, 200)
  const statuses: number[] = []
  for (const forged of [...Array(11).keys()]) {
    const token = await (forged % 2 === 0 ? forge({ typ: `${forged}` }) : `unreadable.${forged}`)
    statuses.push((await other.call({ ...read, token })).status)
  }
  t.strictSame(statuses, [...Array(10).fill(401), 429])
  const { status } = await other.call({ ...read, token: next })
  t.equal(status, 429, 'the next token of the same person is not checked')
  t.equal((await other.call({ ...read, token: verified })).status, 200)
})

async function assertInvalid(t: Test, service: Service, token: string): Promise<void> {
  const { status, json, headers } = await service.call({ ...read, token })
  t.equal(status, 401)
  t.match(json, { error: 40102 })
  const metadata = `resource_metadata="${service.url}/.well-known/oauth-protected-resource"`
  const challenge = `Bearer realm="plant-store", error="invalid_token", ${metadata}`
  t.equal(headers['www-authenticate'], challenge)
}
