import assert from 'node:assert/strict'
import { isIPv6 } from 'node:net'
import formats from 'ajv-formats/dist/formats.js'
import fc from 'fast-check'
import t from 'tap'
import type { TextFormat } from '../../../core/members/own-fields.ts'
import { TEXT_FORMATS } from '../../../core/members/text-formats.ts'
import { runs } from '../../helpers/plants/runs.ts'

interface Cases {
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}

const label = 'a'.repeat(63)

const CASES: Readonly<Record<TextFormat, Cases>> = {
  date: {
    valid: ['2026-11-25', '0000-02-29', '2000-02-29', '2024-02-29', '9999-12-31', '0099-04-30'],
    invalid: [
      '',
      '2026-11-25 ',
      ' 2026-11-25',
      '2026-11-25\n',
      '2026-11-25T00:00:00Z',
      '2026-1-25',
      '26-11-25',
      '+02026-11-25',
      '20261125',
      '2026-00-01',
      '2026-13-01',
      '2026-01-00',
      '2026-01-32',
      '2026-04-31',
      '2026-02-29',
      '1900-02-29',
      '2026-02-30',
      '٢٠٢٦-١١-٢٥',
    ],
  },
  'date-time': {
    valid: [
      '2026-11-25T23:40:00Z',
      '2026-11-25t00:00:00z',
      '1985-04-12T23:20:50.52Z',
      '1996-12-19T16:39:57-08:00',
      '2026-11-25T23:59:59.123456789012+23:59',
      '2026-11-25T23:40:00-00:00',
      // The examples of leap seconds in RFC 3339 §5.8.
      '1990-12-31T23:59:60Z',
      '1990-12-31T15:59:60-08:00',
      '1991-01-01T05:29:60.5+05:30',
    ],
    invalid: [
      '',
      '2026-11-25',
      '2026-11-25 23:40:00Z',
      '2026-11-25T23:40:00',
      '2026-11-25T23:40Z',
      '2026-11-25T23:40:00.Z',
      '2026-11-25T23:40:00,5Z',
      '2026-11-25T24:00:00Z',
      '2026-11-25T23:60:00Z',
      '2026-11-25T23:40:61Z',
      '2026-11-25T23:40:00+24:00',
      '2026-11-25T23:40:00+01:60',
      '2026-11-25T23:40:00+0100',
      '2026-11-25T23:40:00+01',
      '2026-02-29T23:40:00Z',
      '2026-11-25T23:40:00Z ',
      '2026-11-25T23:59:60-08:00',
      '2026-11-25T23:58:60Z',
      '2026-11-25T22:59:60Z',
    ],
  },
  uri: {
    valid: [
      // The examples of RFC 3986 §1.1.2.
      'ftp://ftp.is.co.za/rfc/rfc1808.txt',
      'http://www.ietf.org/rfc/rfc2396.txt',
      'ldap://[2001:db8::7]/c=GB?objectClass?one',
      'mailto:John.Doe@example.com',
      'news:comp.infosystems.www.servers.unix',
      'tel:+1-816-555-1212',
      'telnet://192.0.2.16:80/',
      'urn:oasis:names:specification:docbook:dtd:xml:4.1.2',
      'https://flora@example.com:8080/Abies%20alba?q=%C3%A9&x=a/b?c#top?/',
      'http://[::1]:80?x',
      'http://[v1f.a]#x',
      "http://[V1.~:a!$&'()*+,;=]",
      'http://[1:2:3:4:5:6:7:8]',
      'http://[1:2:3:4:5:6:7::]',
      'http://[::2:3:4:5:6:7:8]',
      'http://[::]',
      'http://x@[FFFF::192.0.2.1]:1/',
      'http://user:pass@host',
      'http://host:',
      'file:///etc/hosts',
      'A+b-c.1:',
      'a:b//c',
      'x:?#',
    ],
    invalid: [
      '',
      'example.com',
      '/plants/4',
      '//example.com',
      ':x',
      '1a:x',
      'a_b:x',
      'http://example.com/Abies alba',
      'http://example.com/é',
      'http://example.com/%',
      'http://example.com/%2',
      'http://example.com/%zz',
      'http://example.com/a#b#c',
      'http://example.com/a[1]',
      'http://example.com/?a[1]',
      'http://example.com/#[',
      'http://[::1',
      'http://[::1]x',
      'http://[::g]',
      'http://[]',
      'http://[1::2::3]/',
      'http://[1:2:3]',
      'http://[1:2:3:4:5:6:7:8:9]',
      'http://[1:2:3:4:5:6:7:8::]',
      'http://[:::]',
      'http://[00001::]',
      'http://[::256.0.0.1]',
      'http://[::01.2.3.4]',
      'http://[192.0.2.1]',
      'http://[fe80::1%25eth0]',
      'http://[v1]',
      'http://[v.a]',
      'http://[vg.a]',
      'http://[v1.]',
      'http://[v1.a%20]',
      'http://[v1.a@]',
      'http://[a]',
      'http://a@b@c',
      'http://host:80a',
      'http://a:b:c',
      'x:a|b',
      'x:a\\b',
      'x:"',
      'x:<a>',
      'x:{a}',
      'x:a^b`',
      'x:\n',
      'x:a\n',
    ],
  },
  email: {
    valid: [
      'flora@example.com',
      'a@b',
      "!#$%&'*+/=?^_`{|}~-.x@example.com",
      'a.b@1.2',
      `a@${label}.${label}`,
      `${'a'.repeat(64)}@${label}.${label}.${label}.${label}`,
      'A@X--1.COM',
    ],
    invalid: [
      '',
      'flora',
      '@example.com',
      'flora@',
      'a b@example.com',
      '"a b"@example.com',
      'a@b@c',
      '.@b',
      '.a@b',
      'a.@b',
      'a..b@example.com',
      `${'a'.repeat(65)}@b`,
      `a@${label}.${label}.${label}.${label}.a`,
      'a@b.',
      'a@.b',
      'a@b..c',
      'a@-b',
      'a@b-',
      'a@b_c',
      `a@${label}a`,
      'a@[127.0.0.1]',
      'flöra@example.com',
      'flora@exämple.com',
      'a@b\n',
    ],
  },
}

for (const [format, { valid, invalid }] of Object.entries(CASES)) {
  const { isValid, message } = TEXT_FORMATS[format as TextFormat]

  t.test(`${format}: valid and invalid text is told apart`, async (t) => {
    for (const text of valid) t.ok(isValid(text), text)
    for (const text of invalid) t.notOk(isValid(text), text)
  })

  t.test(`${format}: the message gives a valid example`, async (t) => {
    t.ok(isValid(String(message.split(' ').at(-1))), message)
  })

  t.test(`${format}: long text takes no more than linear time`, async (t) => {
    for (const [start = '', end = ''] of valid.map((text) => [text.slice(0, -1), text.at(-1)]))
      for (const part of ['0', 'a', '.', 'a.', ':', '%20', '[', '@', '-', ' '])
        t.notOk(isValid(`${start}${part.repeat(2 ** 16)}${end}\0`))
  })
}

const pad = (length: number, max: number) =>
  fc.nat({ max }).map((value) => String(value).padStart(length, '0'))

const date = fc.tuple(pad(4, 9999), pad(2, 13), pad(2, 32)).map((parts) => parts.join('-'))

/** Hour 24 and minute 60 are among the cases above: the other implementation accepts some of them. */
const time = fc
  .tuple(pad(2, 23), pad(2, 59), pad(2, 61), fc.constantFrom('', '.5', '.'))
  .map(([hour, minute, second, fraction]) => `${hour}:${minute}:${second}${fraction}`)

const offset = fc.oneof(
  fc.constantFrom('Z', 'z', ''),
  fc
    .tuple(fc.constantFrom('+', '-'), pad(2, 24), pad(2, 60))
    .map(([sign, h, m]) => `${sign}${h}:${m}`),
)

/** An offset and the time at which a day ends in UTC. */
const dayEnd = fc
  .tuple(fc.constantFrom(1, -1), fc.nat({ max: 24 * 60 - 1 }))
  .map(([sign, minutes]) => {
    const local = (24 * 60 - 1 + sign * minutes + 24 * 60) % (24 * 60)
    const clock = (total: number) =>
      [Math.floor(total / 60), total % 60].map((part) => String(part).padStart(2, '0')).join(':')
    return `${clock(local)}:60${sign === 1 ? '+' : '-'}${clock(minutes)}`
  })

const dateTime = fc
  .tuple(
    date,
    fc.constantFrom('T', 't'),
    fc.oneof(
      fc.tuple(time, offset),
      dayEnd.map((end) => [end]),
    ),
  )
  .map(([day, separator, rest]) => `${day}${separator}${rest.join('')}`)

t.test('dates and times are judged as by another implementation', async (t) => {
  for (const [format, texts] of [
    ['date', date],
    ['date-time', dateTime],
  ] as const) {
    const { validate } = formats.fullFormats[format] as { validate: (text: string) => boolean }
    let valid = 0
    fc.assert(
      fc.property(texts, (text) => {
        assert.equal(TEXT_FORMATS[format].isValid(text), validate(text), text)
        if (validate(text)) valid += 1
      }),
      { numRuns: runs(3000) },
    )
    t.ok(valid > 200, `${format}: ${valid}`)
  }
})

const pchar = fc.oneof(
  fc.constantFrom(..."azAZ09-._~!$&'()*+,;=:@"),
  fc.constantFrom('%20', '%C3%a9'),
)

const characters = (unit: fc.Arbitrary<string>) =>
  fc.array(unit, { maxLength: 5 }).map((parts) => parts.join(''))

/** Parts of a URI, each by the rule of that name in RFC 3986, Appendix A. */
const segment = characters(pchar)
const pathAbempty = fc
  .array(segment, { maxLength: 3 })
  .map((parts) => parts.map((each) => `/${each}`).join(''))
const userinfo = characters(pchar.filter((each) => each !== '@'))
const host = fc.oneof(
  characters(pchar.filter((each) => !'@:'.includes(each))),
  fc.constantFrom('[::1]', '[2001:db8::192.0.2.1]', '192.0.2.1'),
)
const authority = fc
  .tuple(
    fc.oneof(
      fc.constant(''),
      userinfo.map((each) => `${each}@`),
    ),
    host,
    fc.constantFrom('', ':', ':8080'),
  )
  .map((parts) => parts.join(''))
const hierPart = fc.oneof(
  fc.tuple(authority, pathAbempty).map(([each, path]) => `//${each}${path}`),
  fc.tuple(fc.constantFrom('', '/'), pchar, segment, pathAbempty).map((parts) => parts.join('')),
  fc.constantFrom('', '/'),
)
const query = characters(fc.oneof(pchar, fc.constantFrom('/', '?')))
const optional = (start: string) =>
  fc.oneof(
    fc.constant(''),
    query.map((each) => start + each),
  )
const uri = fc
  .tuple(fc.constantFrom('a', 'https', 'A+1-.z'), hierPart, optional('?'), optional('#'))
  .map(([scheme, ...parts]) => `${scheme}:${parts.join('')}`)

t.test('every URI of the grammar is valid, and none with another character is', async () => {
  const other = fc.constantFrom(...'\0 "<>\\^`{|}[%é🌲')
  fc.assert(
    fc.property(uri, other, fc.nat(), (text, character, position) => {
      assert.ok(TEXT_FORMATS.uri.isValid(text), text)
      const at = position % (text.length + 1)
      const changed = `${text.slice(0, at)}${character}${text.slice(at)}`
      // What follows can complete a percent sign.
      const isEncoded = /%[\da-f]{2}/i.test(changed.slice(at, at + 3))
      if (!isEncoded || character !== '%') assert.ok(!TEXT_FORMATS.uri.isValid(changed), changed)
    }),
    { numRuns: runs(3000) },
  )
})

const group = fc.constantFrom('0', '1', 'aB9', 'ffff', '00c', '12345', 'g', '')
const groups = fc.array(fc.oneof(fc.constant('f'), group), { maxLength: 6 })

/** Up to two lists of groups, and perhaps an IPv4 address or a zone. */
const address = fc
  .tuple(
    groups,
    fc.constantFrom('::', '::', ':', ''),
    groups,
    fc.constantFrom('', '', ':1.2.3.4', '1.2.3.4', '256.1.1.1', '01.2.3.4', '1.2.3', '%1', '-'),
  )
  .map(([before, separator, after, end]) => before.join(':') + separator + after.join(':') + end)
  .filter((text) => text !== '')

t.test('an IPv6 address in a URI is judged as by Node', async (t) => {
  let valid = 0
  fc.assert(
    fc.property(address, (text) => {
      // Zones, which Node accepts, are not in RFC 3986.
      const isAddress = isIPv6(text) && !text.includes('%')
      assert.equal(TEXT_FORMATS.uri.isValid(`http://[${text}]/`), isAddress, text)
      if (isAddress) valid += 1
    }),
    { numRuns: runs(20_000) },
  )
  t.ok(valid > 200, String(valid))
})
