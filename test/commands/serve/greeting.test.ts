import { X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import t from 'tap'
import type { Restriction } from '../../../service/restriction.ts'
import { greeting, readyLine } from '../../../src/commands/serve/greeting.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import type { Certificate } from '../../../src/http/sockets/certificate.ts'
import { localUrl } from '../../../src/http/sockets/listener.ts'
import { type Issued, issue } from '../../helpers/network/certificates.ts'

const config = defaultConfig()
const here = 'http://127.0.0.1:3000'

t.test('the greeting shows a URL at which the service can be reached', async (t) => {
  for (const [address, url] of Object.entries({
    '127.0.0.1': 'http://127.0.0.1:3000',
    '10.0.0.0': 'http://10.0.0.0:3000',
    '0.0.0.0': 'http://127.0.0.1:3000',
    '::1': 'http://[::1]:3000',
    '::': 'http://[::1]:3000',
    '2001:db8::': 'http://[2001:db8::]:3000',
  })) {
    const service = { url: localUrl({ address, port: 3000 }), access: { file: '/x' } }
    const text = greeting(config, service)
    t.match(text, `listening on ${url}\n`)
    t.match(text, `page      ${url}/\n`)
    t.match(text, `docs      ${url}/documentation\n`)
    t.match(text, `curl '${url}/plants' `)
  }
})

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

t.test('the greeting shows where the token is', async (t) => {
  for (const [access, location, bearer] of [
    [{ file: '/x/access-token' }, '/x/access-token', "$(cat '/x/access-token')"],
    [{ file: "/it's" }, "/it's", "$(cat '/it'\\''s')"],
    [{ variable: 'A_TOKEN' }, 'in A_TOKEN', '$A_TOKEN'],
    [{ token: 'plant_x' }, 'plant_x', 'plant_x'],
    [{ hasTokens: false }, `create one with ${CREATE_COMMAND}`, '<token>'],
    [{ hasTokens: true }, `use an existing one or create one with ${CREATE_COMMAND}`, '<token>'],
  ] as const) {
    const text = greeting(config, { url: here, access })
    t.match(text, `token     ${location}\n`)
    t.match(text, `-H "Authorization: Bearer ${bearer}"`)
  }
})

t.test('the greeting shows which database is used, without its secrets', async (t) => {
  for (const [database, shown] of Object.entries({
    [config.database]: resolve('data/plants.db'),
    ':memory:': 'in memory',
    'postgres://me:s3cret@one:5433,two/plants?sslpassword=s3cret':
      'postgres://me@one:5433,two/plants',
  })) {
    const text = greeting({ ...config, database }, { url: here, access: { variable: 'A_TOKEN' } })
    t.match(text, `database  ${shown}\n`)
    t.notMatch(text, 's3cret')
  }
})

t.test('the greeting says when changes are acknowledged, unless that is as usual', async (t) => {
  const announced = { url: here, access: { file: '/x' } } as const
  const acknowledgement = 'are acknowledged once they are on 1 standby'
  const text = greeting(config, { ...announced, acknowledgement })
  t.match(text, `\n  changes   ${acknowledgement}\n`)
  t.notMatch(greeting(config, announced), 'changes   ')
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

t.test('the greeting and the ready line show what the service has', async (t) => {
  const service = { url: here, adminUrl: 'http://127.0.0.1:3001', access: { file: '/x' } }
  const { adminUrl } = service
  t.match(greeting(config, service), `metrics   ${adminUrl}/metrics\n`)
  t.match(JSON.parse(readyLine(config, service)), { adminUrl })

  const without = { ...config, page: false, docs: false }
  const text = greeting(without, service)
  t.match(text, `listening on ${here}\n  metrics   ${adminUrl}/metrics\n  database `)
  t.notMatch(text, `${here}/documentation`)
  t.strictSame(JSON.parse(readyLine(without, service)), { url: here, adminUrl })

  const unbuilt = '\n  page      not built: run npm ci, then npm run page\n'
  t.match(greeting(config, service, false), unbuilt)
  const docs = `${here}/documentation`
  t.strictSame(JSON.parse(readyLine(config, service, false)), { url: here, docs, adminUrl })
})
