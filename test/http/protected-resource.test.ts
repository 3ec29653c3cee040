/** The service as a protected resource of an issuer (RFC 9728). */
import t from 'tap'
import { startService } from '../helpers/service/service.ts'

const ISSUER = 'http://127.0.0.1:9'
const issuer = { oidcIssuer: ISSUER, oidcAudience: 'urn:plants' }
const wellKnown = { path: '/.well-known/oauth-protected-resource', token: null }
const get = { ...wellKnown, method: 'GET' }
const read = { method: 'GET', path: '/plants', token: null }

t.test('§3.2, §5.1: a challenge names the metadata, which name the issuer', async (t) => {
  const service = await startService(t, { config: { ...issuer, oidcReadScope: 'read' } })
  const { status, headers, json } = await service.call(get)
  t.equal(status, 200)
  t.equal(headers['content-type'], 'application/json')
  t.strictSame(json, {
    resource: service.url,
    authorization_servers: [ISSUER],
    scopes_supported: ['read', 'plants:write'],
    bearer_methods_supported: ['header'],
  })
  t.match(await service.call({ ...get, method: 'HEAD' }), { status: 200, body: '' })
  t.equal((await service.call(wellKnown)).headers.allow, 'GET, HEAD, OPTIONS')
  const challenge = (await service.call(read)).headers['www-authenticate']
  const metadata = `resource_metadata="${service.url}${get.path}"`
  t.equal(challenge, `Bearer realm="plant-store", ${metadata}`)
  const token = await service.issueToken('writer', ['write'])
  t.equal(
    (await service.call({ ...read, token })).headers['www-authenticate'],
    `Bearer realm="plant-store", error="insufficient_scope", scope="read", ${metadata}`,
  )
})

for (const [publicUrl, metadata] of [
  ['https://example.com', 'https://example.com/.well-known/oauth-protected-resource'],
  ['http://[::1]:80/a/b%20c', 'http://[::1]:80/.well-known/oauth-protected-resource/a/b%20c'],
] as const) {
  t.test(`§3: the metadata of ${publicUrl} are at ${metadata}`, async (t) => {
    const service = await startService(t, { config: { ...issuer, publicUrl } })
    t.match((await service.call(get)).json, { resource: publicUrl })
    const challenge = `Bearer realm="plant-store", resource_metadata="${metadata}"`
    t.equal((await service.call(read)).headers['www-authenticate'], challenge)
  })
}

t.test('without an issuer, there is no metadata', async (t) => {
  const service = await startService(t, { config: { publicUrl: 'https://example.com' } })
  t.equal((await service.call({ ...get, token: service.token })).status, 404)
  const { headers } = await service.call(get)
  t.equal(headers['www-authenticate'], 'Bearer realm="plant-store"')
})
