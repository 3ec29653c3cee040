/** How the service finds the keys of an issuer: OpenID Connect Discovery 1.0 §4, with an issuer that misbehaves. */
import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { issuerKeys } from '../../src/auth/issuer-keys.ts'
import { type Issuer, JWKS, METADATA, newKey, startIssuer } from '../helpers/network/issuer.ts'
import { until } from '../helpers/processes/until.ts'
import { type StartOptions, startService } from '../helpers/service/service.ts'

const read = { method: 'GET', path: '/plants' }

/** Starts a service and its issuer, which has the fault from the beginning. */
async function startBoth(t: Test, fault?: Issuer['fault'], options: StartOptions = {}) {
  const issuer = await startIssuer(t)
  if (fault !== undefined) issuer.fault = fault
  const lines: string[] = []
  const logger = { stream: { write: (line: string) => lines.push(JSON.parse(line).msg) } }
  const config = { ...issuer.config, ...options.config }
  const service = await startService(t, {
    logger,
    issuer: { cooldownMs: 0, timeoutMs: 30_000 },
    ...options,
    config,
  })
  const statusWith = async (token: string) => (await service.call({ ...read, token })).status
  return { issuer, service, lines, statusWith }
}

const isDown: Issuer['fault'] = ({ socket }) => {
  socket.destroy()
  return true
}

/** Replaces the responses to one path. */
const at =
  (path: string, respond: (response: ServerResponse, issuer: string) => void): Issuer['fault'] =>
  ({ url, headers }, response) => {
    if (url !== path) return false
    respond(response, `http://${headers.host}`)
    return true
  }

const text = (path: string, body: string) => at(path, (response) => response.end(body))

const json = (path: string, value: unknown) => text(path, JSON.stringify(value))

const status = (path: string, code: number, headers?: Record<string, string>) =>
  at(path, (response) => response.writeHead(code, headers).end())

const metadata = (values: object) =>
  at(METADATA, (response, issuer) =>
    response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}${JWKS}`, ...values })),
  )

const MALFORMED = { kty: 'RSA', n: 'x'.repeat(16) }

const FAULTS: [what: string, fault: Issuer['fault'], logged: RegExp][] = [
  ['is down', isDown, /fetch failed: UND_ERR_SOCKET$/],
  ['never responds', () => true, /aborted due to timeout$/],
  ['stops in a response', at(JWKS, (response) => response.write('{')), /aborted due to timeout$/],
  ['fails', status(METADATA, 500), /openid-configuration' responded with 500$/],
  ['redirects', status(METADATA, 302, { location: METADATA }), /responded with 302$/],
  ['redirects to its keys', status(JWKS, 307, { location: JWKS }), /jwks' responded with 307$/],
  ['sends no JSON', text(METADATA, '\u001b[31m<html>'), /openid-configuration is not JSON$/],
  ['sends another type of metadata', json(METADATA, null), /names the issuer undefined$/],
  [
    'sends the metadata of another issuer',
    metadata({ issuer: 'https://id.example/\u001b' }),
    /names the issuer 'https:\/\/id.example\/\\x1B'$/,
  ],
  ['names no keys', metadata({ jwks_uri: undefined }), /has the jwks_uri undefined$/],
  [
    'names keys that are no web page',
    metadata({ jwks_uri: 'file:///etc/passwd' }),
    /has the jwks_uri 'file:\/\/\/etc\/passwd'$/,
  ],
  ['sends no list of keys', json(JWKS, { keys: 'none' }), /JSON Web Key Set malformed$/],
  ['sends no keys', json(JWKS, { keys: [] }), /the JSON Web Key Set is empty$/],
  ['sends keys that are no JSON', text(JWKS, '{"keys":[]'), /the JSON Web Key Set is not JSON$/],
  [
    'sends a megabyte of keys',
    json(JWKS, { keys: Array(2 ** 15).fill(MALFORMED) }),
    /jwks' responded with more than 262144 bytes$/,
  ],
]
/** An issuer that one test after another breaks. */
let broken: Issuer
/** A service and its issuer, which always has new keys. */
let both: Awaited<ReturnType<typeof startBoth>>
t.before(async () => {
  broken = await startIssuer(t)
  both = await startBoth(t)
})

for (const [what, fault, logged] of FAULTS) {
  t.test(`if the issuer ${what}, its keys are unknown until it recovers`, async (t) => {
    const lines: string[] = []
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) })
    const timeoutMs = /timeout/.test(logged.source) ? 200 : 30_000
    const readKeys = issuerKeys(broken.config, log, { cooldownMs: 0, timeoutMs })
    broken.fault = fault
    t.match(await readKeys(), { json: undefined })
    const prefix = `cannot read the keys of ${broken.url}: `
    t.match(lines, [new RegExp(`^${prefix}[ -~]*$`)])
    t.match(lines[0], logged)
    broken.fault = () => false
    await until('the keys are read', async () => (await readKeys()).json !== undefined)
    t.equal(lines.at(-1), `read new keys of ${broken.url}`)
  })
}

t.test('if the issuer is down, its tokens get 503 until it recovers', async (t) => {
  const { issuer, service, statusWith } = await startBoth(t, isDown)
  const exp = Math.floor(Date.now() / 1000) - 100
  const invalid = [{ iss: 'https://id.example' }, { aud: 'urn:other' }, { exp }]
  const tokens = [
    'a.b.c',
    await issuer.sign({}, { typ: 'logout+jwt' }),
    ...(await Promise.all(invalid.map((claims) => issuer.sign(claims)))),
  ]
  for (const token of tokens) {
    const answer = await service.call({ ...read, token })
    t.match(answer, { status: 401, json: { error: 40102 } }, 'no key could make it valid')
  }
  const token = await issuer.sign()
  t.match(await service.call({ ...read, token }), {
    status: 503,
    headers: { 'retry-after': '1' },
    json: { error: 50304 },
  })
  t.equal((await service.call(read)).status, 200, 'the tokens of the service work')
  issuer.fault = () => false
  t.equal(await statusWith(token), 200)
})

t.test('the log has the reason of fetch, even without a code', async (t) => {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) })
  const oidcIssuer = 'http://127.0.0.1:9'
  t.match(await issuerKeys({ oidcIssuer }, log)(), { json: undefined, retryAfterMs: /^\d/ })
  t.strictSame(lines, [`cannot read the keys of ${oidcIssuer}: fetch failed: bad port`])
})

t.test(
  "if the keys could not be read, tokens of an unknown key are nobody's failure",
  async (t) => {
    const config = { authFailureLimit: { requests: 1, window: 3_600_000 } }
    const { issuer, lines, statusWith } = await startBoth(t, undefined, { config })
    t.equal(await statusWith(await issuer.sign()), 200)
    await issuer.rotate()
    issuer.fault = isDown
    const tokens = await Promise.all(
      Array.from({ length: 12 }, (_, index) => issuer.sign({ sub: `person ${index}` })),
    )
    for (const token of tokens) t.equal(await statusWith(token), 503)
    t.notOk(lines.includes('rejected an access token'))
    issuer.fault = () => false
    for (const token of tokens) t.equal(await statusWith(token), 200)
  },
)

t.test('a new key is found, and tokens of the earlier one become invalid', async (t) => {
  const { issuer, statusWith } = both
  const earlier = await issuer.token()
  t.equal(await statusWith(earlier), 200)
  await issuer.rotate()
  t.equal(await statusWith(earlier), 200, 'the service knows it, and has no reason to look')
  t.equal(await statusWith(await issuer.token()), 200)
  t.equal(await statusWith(earlier), 401)
})

t.test('an issuer with several keys is told them apart by their ids', async (t) => {
  const rsa = await newKey('RS256')
  const { issuer, statusWith } = both
  const { signingKey } = issuer
  issuer.fault = json(JWKS, { keys: [rsa.open, signingKey.open, (await newKey()).open] })
  t.equal(await statusWith(await issuer.sign({}, {}, rsa)), 200)
  t.equal(await statusWith(await issuer.sign()), 200)
  const nameless = { kid: undefined as never }
  t.equal(await statusWith(await issuer.sign({}, nameless, rsa)), 200, 'its algorithm is enough')
  t.equal(await statusWith(await issuer.sign({}, nameless)), 401)
  issuer.fault = () => false
})

t.test('while an issuer is down or publishes no keys, its keys stay in use', async (t) => {
  const { issuer, statusWith } = both
  t.equal(await statusWith(await issuer.sign()), 200)
  for (const fault of [isDown, json(JWKS, { keys: [] })]) {
    issuer.fault = fault
    t.equal(await statusWith(await issuer.sign({}, {}, await newKey())), 503)
    t.equal(await statusWith(await issuer.sign({ jti: `${Math.random()}` })), 200)
  }
})

t.test('unknown keys make the service ask the issuer at most once per cooldown', async (t) => {
  for (const fault of [undefined, status(JWKS, 500)]) {
    const { issuer, service } = await startBoth(t, fault, { issuer: { cooldownMs: 3_600_000 } })
    const stranger = await newKey()
    for (let sent = 0; sent < 3; sent++) {
      const token = await issuer.sign({}, { kid: `key ${sent}` }, stranger)
      t.match(await service.call({ ...read, token }), {
        status: 503,
        headers: { 'retry-after': /^3(600|5\d\d)$/ },
        json: { error: 50304 },
      })
    }
    t.equal(issuer.reads, 1)
  }
})

t.test('a new key that follows a forged one is found after the cooldown', async (t) => {
  const { issuer, service, statusWith } = await startBoth(t, undefined, {
    issuer: { cooldownMs: 2000 },
  })
  const stranger = await newKey()
  const forge = () => issuer.sign({}, {}, stranger)
  t.equal(await statusWith(await issuer.sign()), 200)
  await until('the keys are read for the forged token', async () => {
    return (await statusWith(await forge())) === 401
  })
  await issuer.rotate()
  const token = await issuer.sign()
  const { status, headers } = await service.call({ ...read, token })
  t.equal(status, 503)
  t.match(headers['retry-after'], /^[12]$/)
  await until('the new key is found', async () => (await statusWith(token)) === 200)
})

t.test('tokens of an unknown key count as failures if the keys could be read', async (t) => {
  const config = { authFailureLimit: { requests: 1, window: 3_600_000 } }
  const issuerOptions = { cooldownMs: 3_600_000 }
  const { issuer, statusWith } = await startBoth(t, undefined, { config, issuer: issuerOptions })
  t.equal(await statusWith(await issuer.sign()), 200)
  const stranger = await newKey()
  const statuses: number[] = []
  for (let sent = 0; sent < 11; sent++) {
    statuses.push(await statusWith(await issuer.sign({ jti: `${sent}` }, {}, stranger)))
  }
  t.strictSame(statuses, [...Array(10).fill(503), 429])
})
