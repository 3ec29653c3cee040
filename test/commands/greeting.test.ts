import { X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import t from 'tap'
import type { Restriction } from '../../service/restriction.ts'
import { greeting, readyLine } from '../../src/commands/serve/greeting.ts'
import { defaultConfig } from '../../src/config/config.ts'
import type { Certificate } from '../../src/http/server/certificate.ts'
import { localUrl } from '../../src/http/server/listener.ts'
import { type Issued, issue } from '../helpers/certificates.ts'

const config = defaultConfig()
const here = 'http://127.0.0.1:3000'

const addresses = [
  { address: '127.0.0.1', url: 'http://127.0.0.1:3000' },
  { address: '10.0.0.0', url: 'http://10.0.0.0:3000' },
  { address: '0.0.0.0', url: 'http://127.0.0.1:3000' },
  { address: '::1', url: 'http://[::1]:3000' },
  { address: '::', url: 'http://[::1]:3000' },
  { address: '2001:db8::', url: 'http://[2001:db8::]:3000' },
]

for (const { address, url } of addresses) {
  t.test(`the greeting for a service on ${address} shows ${url}`, async (t) => {
    const text = greeting(config, {
      url: localUrl({ address, port: 3000 }),
      access: { file: '/x' },
    })
    t.match(text, `listening on ${url}\n`)
    t.match(text, `page      ${url}/\n`)
    t.match(text, `docs      ${url}/documentation\n`)
    t.match(text, `curl '${url}/plants' `)
  })
}

t.test(
  'the greeting says what happens to changes, unless that is a matter of course',
  async (t) => {
    const announced = { url: here, access: { file: '/x' } } as const
    const acknowledgement = 'are acknowledged once they are on 1 standby'
    t.match(
      greeting(config, { ...announced, acknowledgement }),
      `\n  changes   ${acknowledgement}\n`,
    )
    t.notMatch(greeting(config, announced), 'changes   ')
  },
)

const files = { certificate: 'cert.pem', key: 'key.pem' }
const authority = issue({ name: 'authority' })

function certificateFor(hosts: string[], issuer?: Issued): Certificate {
  const { cert, key } = issue({ name: 'plants', hosts, ...(issuer && { issuer }) })
  const pem = { cert: Buffer.from(cert), key: Buffer.from(key) }
  const x509 = new X509Certificate(cert)
  return { files, versions: '', pem, x509, ticketSecret: new Uint8Array(), warning: undefined }
}

for (const { hosts, address, url, curl } of [
  { hosts: ['127.0.0.1'], address: '0.0.0.0', url: 'https://127.0.0.1:3000' },
  { hosts: ['localhost'], address: '::', url: 'https://localhost:3000' },
  { hosts: ['localhost'], address: '192.0.2.1', url: 'https://192.0.2.1:3000', curl: /localhost/ },
  {
    hosts: ['*.example.com', 'plants.example.com'],
    address: '::1',
    url: 'https://[::1]:3000',
    curl: "curl 'https://plants.example.com:3000/plants' --connect-to '::[::1]:3000' -H",
  },
  { hosts: ['*.example.com'], address: '127.0.0.1', url: 'https://127.0.0.1:3000' },
]) {
  t.test(
    `with a certificate for ${hosts}, the greeting for a service on ${address} shows ${url}`,
    async (t) => {
      const certificate = certificateFor(hosts, authority)
      const found = localUrl({ address, port: 3000 }, certificate)
      t.equal(found, url)
      const text = greeting(config, { url: found, access: { file: '/x' }, certificate })
      t.match(text, `listening on ${url}\n`)
      t.match(text, curl ?? `curl '${url}/plants' -H`)
    },
  )
}

t.test('the curl command trusts a self-signed certificate', async (t) => {
  const certificate = certificateFor(['127.0.0.1'])
  const text = greeting(config, {
    url: 'https://127.0.0.1:3000',
    access: { file: '/x' },
    certificate,
  })
  t.match(text, `curl 'https://127.0.0.1:3000/plants' --cacert '${resolve('cert.pem')}' -H`)
})

const CREATE_COMMAND = `plant-store token create --name mine --scope read,write --database '${resolve('data/plants.db')}'`

const accesses = [
  {
    access: { file: '/x/access-token' },
    location: '/x/access-token',
    bearer: "$(cat '/x/access-token')",
  },
  { access: { file: "/it's" }, location: "/it's", bearer: "$(cat '/it'\\''s')" },
  { access: { variable: 'A_TOKEN' }, location: 'in A_TOKEN', bearer: '$A_TOKEN' },
  { access: { token: 'plant_x' }, location: 'plant_x', bearer: 'plant_x' },
  {
    access: { hasTokens: false },
    location: `create one with ${CREATE_COMMAND}`,
    bearer: '<token>',
  },
  {
    access: { hasTokens: true },
    location: `use an existing one or create one with ${CREATE_COMMAND}`,
    bearer: '<token>',
  },
]

for (const { access, location, bearer } of accesses) {
  t.test(`the greeting shows the token as: ${location}`, async (t) => {
    const text = greeting(config, { url: here, access })
    t.match(text, `token     ${location}\n`)
    t.match(text, `-H "Authorization: Bearer ${bearer}"`)
  })
}

t.test(
  'the greeting shows the absolute path of the database, or that it is in memory',
  async (t) => {
    t.match(
      greeting(config, { url: here, access: { token: 'x' } }),
      `database  ${resolve('data/plants.db')}\n`,
    )
    const inMemory = { ...config, database: ':memory:' }
    t.match(greeting(inMemory, { url: here, access: { token: 'x' } }), 'database  in memory\n')
  },
)

t.test('the greeting shows the URL of a database server without its secrets', async (t) => {
  const database = 'postgres://me:s3cret@one:5433,two/plants?sslpassword=s3cret'
  const text = greeting({ ...config, database }, { url: here, access: { variable: 'A_TOKEN' } })
  t.match(text, 'database  postgres://me@one:5433,two/plants\n')
  t.notMatch(text, 's3cret')
})

t.test('with a restriction, the greeting says how to end it, and creates no plant', async (t) => {
  const database = 'postgres://me:s3cret@one/plants'
  const announced = { url: here, access: { hasTokens: true }, acknowledgement: 'are durable' }
  const of = (restriction: Restriction) =>
    greeting({ ...config, database }, { ...announced, restriction })
  const option = "--database 'postgres://me@one/plants'"
  const mirror = of({ source: 'https://plants.example', cursor: '' })
  const reason = 'it mirrors https://plants.example; to end this, run plant-store promote'
  t.match(mirror, `changes   are refused: ${reason} ${option}\n`)
  t.match(of('frozen'), `; to end this, run plant-store unfreeze ${option}\n`)
  t.match(mirror, `Read the plants:\n  curl '${here}/plants' -H "Authorization: Bearer <token>"\n`)
  t.notMatch(mirror, 'are durable')
})

t.test('the ready line is JSON, and has the token only if it is stored nowhere else', async (t) => {
  const expected = { url: here, page: `${here}/`, docs: `${here}/documentation` }
  const line = readyLine(config, { url: here, access: { token: 'plant_x' } })
  t.match(line, /^[^\n]*\n$/)
  t.strictSame(JSON.parse(line), { ...expected, token: 'plant_x' })
  t.strictSame(
    JSON.parse(readyLine(config, { url: here, access: { variable: 'A_TOKEN' } })),
    expected,
  )
})

t.test('the greeting does not link to a page and docs that are turned off', async (t) => {
  const without = { ...config, page: false, docs: false }
  const text = greeting(without, { url: here, access: { token: 'x' } })
  t.match(text, `listening on ${here}\n  database `)
  t.notMatch(text, `${here}/documentation`)
  t.strictSame(JSON.parse(readyLine(without, { url: here, access: { file: '/x' } })), {
    url: here,
  })
})

t.test('the greeting says how to build a page that is not built', async (t) => {
  const service = { url: here, access: { file: '/x' } }
  t.match(
    greeting(config, service, false),
    '\n  page      not built: run npm ci, then npm run page\n',
  )
  t.strictSame(JSON.parse(readyLine(config, service, false)), {
    url: here,
    docs: `${here}/documentation`,
  })
})

t.test('the greeting and the ready line show the admin port', async (t) => {
  const adminUrl = 'http://127.0.0.1:3001'
  const service = { url: here, adminUrl, access: { file: '/x' } }
  t.match(greeting(config, service), `metrics   ${adminUrl}/metrics\n`)
  t.match(JSON.parse(readyLine(config, service)), { adminUrl })
})
