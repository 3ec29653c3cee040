import t from 'tap'
import { parseConnectionString } from '../../../../src/stores/postgres/connection/connection-string.ts'

for (const [text, urls, redacted] of [
  ['postgres://one', ['postgres://one'], 'postgres://one'],
  ['postgresql://one/plants', ['postgresql://one/plants'], 'postgresql://one/plants'],
  [
    'postgres://me:secret@one:1,two:2,three/plants?sslmode=disable&password=secret',
    [
      'postgres://me:secret@one:1/plants?sslmode=disable&password=secret',
      'postgres://me:secret@two:2/plants?sslmode=disable&password=secret',
      'postgres://me:secret@three/plants?sslmode=disable&password=secret',
    ],
    'postgres://me@one:1,two:2,three/plants',
  ],
  [
    'postgres://[::1]:5432,127.0.0.1/plants',
    ['postgres://[::1]:5432/plants', 'postgres://127.0.0.1/plants'],
    'postgres://[::1]:5432,127.0.0.1/plants',
  ],
  ['postgres://me:a%40b%2Fc@one', ['postgres://me:a%40b%2Fc@one'], 'postgres://me@one'],
  ['postgres://me:a@secret@one', ['postgres://me:a@secret@one'], 'postgres://me@one'],
  ['postgres://:secret@one', ['postgres://:secret@one'], 'postgres://one'],
  [
    'postgres:///plants?host=/var/run/postgresql',
    ['postgres:///plants?host=/var/run/postgresql'],
    'postgres:///plants',
  ],
] as const) {
  t.test(`parses ${text}`, (t) => {
    t.match(parseConnectionString(text), { urls, redacted })
    t.end()
  })
}

for (const [text, has] of [
  ['postgres://one/plants', false],
  ['postgres://me@one/plants', false],
  ['postgres://me:@one/plants', false],
  ['postgres://me:secret@one/plants', true],
  ['postgres://:secret@one/plants', true],
  ['postgres://me@one/plants?password=secret', true],
  ['postgres://me@one/plants?sslmode=disable', false],
] as const) {
  t.test(`finds ${has ? 'a' : 'no'} password in ${text}`, async (t) => {
    t.equal(parseConnectionString(text).hasPassword, has)
  })
}

for (const text of [
  'postgres:me:secret@one',
  'postgres:/one',
  'mysql://me:secret@one',
  'postgres://me:secret@one:port/plants',
  'postgres://me:secret@one,two:70000/plants',
  'postgres://me:secret/@one/plants',
  'postgres://me:1/secret@one/plants',
  'postgres://me:secret@one/plants#secret',
]) {
  t.test(`rejects ${text} without repeating it`, (t) => {
    t.throws(() => parseConnectionString(text), {
      name: 'Error',
      message:
        /^invalid database URL: expected one such as postgres:\/\/user:password@host1:5432,host2/,
    })
    t.end()
  })
}
