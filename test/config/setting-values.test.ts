import t from 'tap'
import {
  duration,
  endpoint,
  faults,
  integer,
  issuer,
  logRequests,
  networks,
  nonEmptyString,
  onOff,
  origins,
  publicUrl,
  rate,
  replaceInvalid,
  seed,
} from '../../src/config/setting-values.ts'

const readers = {
  duration: duration('1d'),
  endpoint,
  faults,
  integer: integer(1, 10),
  logRequests,
  networks,
  nonEmptyString,
  onOff,
  origins,
  rate,
  seed,
}

for (const [name, read] of Object.entries(readers)) {
  t.test(`${name} rejects values of any other type`, async (t) => {
    for (const value of [undefined, null, Symbol(), {}, Object.create(null), () => {}, 1n]) {
      t.throws(() => read(value), { message: /^expected / })
    }
  })
}

t.test('a duration has a least and a greatest value', async (t) => {
  const read = duration('1d', '1m')
  for (const [value, milliseconds] of [
    ['1m', 60_000],
    [59_999.5, 60_000],
    ['24h', 86_400_000],
  ] as const) {
    t.equal(read(value), milliseconds)
  }
  for (const value of [0, '0', '59s', 59_999, '1.1d']) {
    t.throws(() => read(value), {
      message: 'expected a duration from 1m to 1d, in ms, s, m, h or d',
    })
  }
})

t.test('origins are read from a list or an array', async (t) => {
  const list = ['https://app.example', 'http://localhost:5173', 'capacitor://localhost']
  t.same(origins(list.join()), list)
  t.same(origins(list), list)
  t.equal(origins('*'), '*')
  t.throws(() => origins([...list, 4]), { message: /^expected origins such as / })
  t.throws(() => origins(['*']), { message: /^expected origins such as / })
})

t.test('replaceInvalid replaces the error about an invalid value, and no other', async (t) => {
  const replaced = new Error('replaced')
  const bug = new TypeError('a bug')
  const fail = () => {
    throw bug
  }
  for (const [read, error] of [
    [() => nonEmptyString(''), replaced],
    [fail, bug],
  ] as const) {
    t.throws(() => replaceInvalid(read, () => replaced), error)
  }
})

t.test('an endpoint is a port, or an address and a port', async (t) => {
  for (const [value, host, port] of [
    [3001, '127.0.0.1', 3001],
    ['3001', '127.0.0.1', 3001],
    ['0.0.0.0:0', '0.0.0.0', 0],
    ['[fe80::1]:65535', 'fe80::1', 65_535],
  ] as const) {
    t.strictSame(endpoint(value), { host, port })
  }
})

t.test('an issuer is read in its own spelling, because its tokens repeat it', async (t) => {
  for (const value of [
    'https://ID.example:443/',
    'https://id.example/realms/plants',
    'http://localhost:8080',
    'http://[::1]:8080/realms/plants',
  ]) {
    t.equal(issuer(value), value)
  }
  for (const value of [7, undefined, 'http://10.0.0.1', 'https://id.example\n']) {
    t.throws(() => issuer(value), { message: /^expected a URL such as https:/ })
  }
})

t.test('a public URL is read without a slash at its end', async (t) => {
  t.equal(publicUrl('https://Plants.example/'), 'https://plants.example')
  t.equal(publicUrl('http://example.com/plants/'), 'http://example.com/plants')
  t.throws(() => publicUrl(7), { message: /^expected a URL such as https:/ })
})
