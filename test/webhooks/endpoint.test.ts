import t from 'tap'
import { parseEndpoint } from '../../src/webhooks/endpoint.ts'
import { isPublic } from '../../src/webhooks/public-addresses.ts'

for (const address of [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450::1',
]) {
  t.test(`${address} is public`, async (t) => t.equal(isPublic(address), true))
}

for (const address of [
  '0.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.0',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b::808:808',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '',
  'localhost',
]) {
  t.test(`${address} is not public`, async (t) => t.equal(isPublic(address), false))
}

t.test('an endpoint is a URL with https and a name or public address', async (t) => {
  for (const url of [
    'https://receiver.example',
    'https://receiver.example:8443/hooks?key=1',
    'https://1.1.1.1/',
    'https://notlocalhost.example/',
    'https://[2606:4700:4700::1111]/',
  ]) {
    t.equal(parseEndpoint(url, false).href, new URL(url).href)
  }
})

const NOT_PUBLIC = /is not a public address/

for (const [url, message] of [
  ['http://receiver.example', /^webhooks require https, except with --allow-private-webhooks$/],
  ['https://127.0.0.1', /^127.0.0.1 is not a public address/],
  ['https://[::1]:8443', /^::1 is not a public address/],
  ['https://[::ffff:127.0.0.1]', NOT_PUBLIC],
  ['https://[64:ff9b::a00:1]', NOT_PUBLIC],
  ['https://2130706433', /^127.0.0.1 is not/],
  ['https://0x7f.1', /^127.0.0.1 is not/],
  ['https://127.1.', /^127.0.0.1 is not/],
  ['https://localhost/', /^localhost is not a public address/],
  ['https://LOCALHOST.:8443/', NOT_PUBLIC],
  ['https://api.localhost/', NOT_PUBLIC],
  ['https://169.254.169.254/latest/meta-data', NOT_PUBLIC],
] as const) {
  t.test(`${url} is allowed only in development`, async (t) => {
    t.throws(() => parseEndpoint(url, false), { message })
    t.ok(parseEndpoint(url, true))
  })
}

for (const [url, message] of [
  ['', /^expected a URL such as/],
  ['receiver.example', /^expected a URL such as/],
  ['ftp://receiver.example', /^expected a URL such as/],
  ['https://', /^expected a URL such as/],
  [`https://receiver.example/${'x'.repeat(2000)}`, /^expected a URL such as/],
  ['https://user:password@receiver.example', /^the URL must not contain a user name/],
  ['https://user@receiver.example', /^the URL must not contain a user name/],
  ['https://:password@receiver.example', /^the URL must not contain a user name/],
  ['https://receiver.example/#x', /^the URL must not contain a fragment/],
] as const) {
  t.test(`${url.slice(0, 50)} is never allowed`, async (t) => {
    for (const allowPrivate of [false, true]) {
      t.throws(() => parseEndpoint(url, allowPrivate), { message })
    }
  })
}
