/** Filters, ids, shown strings, errors and the layout of rows. */
import t from 'tap'
import {
  ConnectionError,
  ServiceError,
  UnexpectedResponseError,
  UnknownOutcomeError,
} from '../../client/client.ts'
import { members } from '../../core/members/members.gen.ts'
import { toWords } from '../../core/members/words.ts'
import { isPath, readToken } from '../../page/access/token-text.ts'
import { explain, isTransient } from '../../page/errors/error-text.ts'
import {
  conditionsIn,
  isEmpty,
  isSameSearch,
  type ListQuery,
  matches,
  parseFragment,
  toFragment,
  withCondition,
  withoutCondition,
} from '../../page/list/filter.ts'
import { idBefore, parseId } from '../../page/list/plant-id.ts'
import {
  cut,
  cutAtDifference,
  fromLines,
  isBlank,
  labelOf,
  memberLabel,
  toLines,
  visibleParts,
} from '../../page/text/display-text.ts'
import { describeDate, formatCount, formatNumber } from '../../page/text/intl.ts'

t.test('a member is labeled with its name', async (t) => {
  t.same(members.map(memberLabel), ['Id', 'Name', 'Tag'])
})

t.test('a token is recognized as people paste it', async (t) => {
  for (const text of [
    'plant_x-1_2',
    ' Bearer plant_x-1_2\n',
    'bearer  "plant_x-1_2"',
    '"Bearer plant_x-1_2"',
    "'Authorization: Bearer plant_x-1_2'",
    'Authorization:Bearer plant_x-1_2"',
    '`plant_x\u00ad-1_2\u200b`',
    '\u201cplant_x-1_2\u201d',
  ]) {
    t.equal(readToken(text), 'plant_x-1_2', text)
  }
  t.equal(readToken('Bearer'), 'Bearer')
  t.equal(readToken('bearer.jwt'), 'bearer.jwt')
  t.equal(readToken('растение'), '')
  for (const path of ['data/access-token', 'C:\\plants\\access-token.txt', 'access-token']) {
    t.ok(isPath(readToken(`"${path}"`)), path)
  }
  t.notOk(isPath('plant_x-1_2'))
})

t.test('a filter selects what the service selects', async (t) => {
  t.ok(matches({ name: 'Abies alba' }, {}))
  t.ok(matches({ name: 'Äbies alba' }, { q: 'ALB abies' }))
  t.notOk(matches({ name: 'Abies alba' }, { q: 'abies pinus' }))
  t.notOk(matches({ name: 'Abies' }, { q: '%' }))
  t.notOk(matches({ name: 'Abies' }, { tag: '' }), 'no tag is not an empty tag')
  t.ok(matches({ name: 'Abies', tag: '' }, { tag: '' }))
  t.notOk(matches({ name: 'Abies', tag: 'tree' }, { tag: 'Tree' }))
  t.ok(matches({ name: 'Abies' }, { untagged: true }))
  t.notOk(matches({ name: 'Abies', tag: '' }, { untagged: true }))
})

t.test('a selection survives in the URL', async (t) => {
  const queries: readonly ListQuery[] = [
    { filter: {} },
    { filter: { tag: '' } },
    { filter: { untagged: true, q: 'x' } },
    { filter: { tag: 'a&b=c#%', q: '+ é "<' }, first: -(2n ** 63n) },
    { filter: { q: 'x' }, first: 2n ** 53n + 1n },
  ]
  for (const selection of queries) {
    t.strictSame(parseFragment(toFragment(selection)), selection)
  }
  t.strictSame(parseFragment(''), { filter: {} })
  t.strictSame(parseFragment('#q=&from=x&other=1'), { filter: {} })
  t.strictSame(parseFragment('#untagged=false&q=++'), { filter: {} })
  t.strictSame(
    parseFragment('#q=%E2%80%8B'),
    { filter: {} },
    'the service refuses a text without words',
  )
  t.strictSame(parseFragment('#tag=a&untagged=true'), { filter: { untagged: true } })
  t.strictSame(parseFragment('#q=+abies+&tag=+'), { filter: { q: 'abies', tag: ' ' } })
})

t.test('a filter without conditions selects all plants', async (t) => {
  t.ok(isEmpty({}))
  for (const filter of [{ tag: '' }, { q: 'x' }, { untagged: true }] as const) {
    t.notOk(isEmpty(filter))
  }
})

t.test('queries that differ only in the text are the same search', async (t) => {
  const search: ListQuery = { filter: { q: 'abi', tag: 'Tree' } }
  t.ok(isSameSearch(search, { filter: { q: 'abies', tag: 'Tree' } }))
  t.notOk(isSameSearch(search, { filter: { q: 'abies' } }))
  t.notOk(isSameSearch(search, { filter: { tag: 'Tree' } }))
  t.notOk(isSameSearch({ filter: {} }, search))
  t.notOk(isSameSearch(search, { ...search, first: 4n }))
})

t.test('an id is any int64 as a person types it', async (t) => {
  t.equal(parseId('5'), 5n)
  t.equal(parseId(' +007 '), 7n)
  t.equal(parseId('\u22125'), -5n)
  t.equal(parseId('9223372036854775807'), 2n ** 63n - 1n)
  t.equal(parseId('-9223372036854775808'), -(2n ** 63n))
  for (const text of [
    '',
    '-',
    '1.0',
    '1e3',
    '0x10',
    '1 2',
    '9223372036854775808',
    '9'.repeat(30),
  ]) {
    t.equal(parseId(text), undefined, text)
  }
  t.equal(idBefore(0n), -1n)
  t.equal(idBefore(-(2n ** 63n)), undefined)
})

t.test('text is cut between characters', async (t) => {
  t.equal(cut('abc', 3), 'abc')
  t.equal(cut('abcd', 3), 'abc…')
  t.equal(cut('ab🌱d', 3), 'ab…')
  t.equal(cut('x'.repeat(200_000), 300).length, 301)
})

t.test('two long strings are cut where they differ', async (t) => {
  t.equal(cutAtDifference('abcd', 'abce', 8), 'abcd')
  t.equal(cutAtDifference('a'.repeat(20), 'b', 8), 'aaaaaaaa…')
  const same = 'x'.repeat(1000)
  t.equal(cutAtDifference(`${same}mine`, `${same}theirs`, 8), '…xxmine')
  t.equal(cutAtDifference(same, same, 8), '…xx')
  t.equal(cutAtDifference('🌱'.repeat(500), '🌱'.repeat(499), 7), '…🌱')
  t.equal(cutAtDifference(`${'🌱'.repeat(500)}a`, `${'🌱'.repeat(500)}b`, 4), '…a')
})

t.test('what nobody would see has a mark', async (t) => {
  for (const [text, shown] of [
    ['Abies alba', ['Abies alba']],
    ['  Abies  alba ', ['·', '·', 'Abies  alba', '·']],
    ['Abies\r\nalba\n\tMill.\u2028', ['Abies', '↵', 'alba', '↵', '⇥', 'Mill.', '↵']],
    ['Abi\u200bes\u202eabla\u00ad', ['Abi', 'U+200B', 'es', 'U+202E', 'abla', 'U+00AD']],
    ['Abies\u00a0alba\u00a0', ['Abies\u00a0alba', 'U+00A0']],
    ['\u0000', ['U+0000']],
    ['', []],
    ['👩‍🌾 ❤️ 🏴\u{e0067}\u{e0062}\u{e007f}', ['👩‍🌾 ❤️ 🏴\u{e0067}\u{e0062}\u{e007f}']],
  ] as const) {
    const parts = visibleParts(text)
    t.same(
      parts.map(({ text }) => text),
      shown,
    )
  }
  t.same(
    visibleParts(' \n\t\ufeff').map(({ name }) => name),
    [...['space', 'line break', 'tab', 'U+FEFF']],
  )
})

t.test('the parts of a name that were searched for are marked', async (t) => {
  const shown = (text: string, q: string) =>
    visibleParts(text, toWords(q)).map(({ text, isFound }) => (isFound ? `<${text}>` : text))
  t.same(shown('Abies alba', 'alb ABI'), ['<Abi>', 'es ', '<alb>', 'a'])
  t.same(shown(' A\u200bbies', 'ab'), ['·', '<A>', 'U+200B', '<b>', 'ies'])
  t.same(shown('Abies alba', 'abies alba'), ['<Abies>', ' ', '<alba>'])
})

t.test('a textarea keeps the kind of line breaks', async (t) => {
  t.equal(toLines('a\r\nb\rc\nd'), 'a\nb\nc\nd')
  t.equal(fromLines('a\nb!\n', 'a\r\nb'), 'a\r\nb!\r\n')
  t.equal(fromLines('a\nb!', 'a\nb'), 'a\nb!')
})

t.test('a plant without a visible name is called by its id', async (t) => {
  t.equal(labelOf({ id: 4n, name: ' \n\u2003' }), 'plant 4')
  t.equal(labelOf({ id: 4n, name: 'Abies' }), 'Abies')
  t.ok(isBlank(''))
  t.notOk(isBlank(' '.repeat(1000)), 'a long name is not searched for a visible character')
})

t.test('errors are explained, and some of them pass', async (t) => {
  for (const [error, text, passes] of [
    [new ConnectionError('x'), 'The service could not be reached.', true],
    [new UnknownOutcomeError('x'), /unknown whether this was saved/, true],
    [new UnexpectedResponseError('x', 502), /responded with status 502/, true],
    [new UnexpectedResponseError('x', 404), /responded with status 404/, false],
    [new ServiceError('token-invalid', 'x'), /expired or revoked/, false],
    [
      new ServiceError('too-many-requests', 'x', { retryAfter: 7 }),
      'Too many requests. Try again in 7 seconds.',
      true,
    ],
    [new ServiceError('body-too-large', 'x'), /too long/, false],
    [new ServiceError('store-busy', 'the store is busy'), 'The store is busy.', true],
    [new ServiceError('read-only-mirror', 'a mirror'), 'A mirror.', false],
    [
      new ServiceError('plant-changed', 'body/0: plant 4 has changed'),
      'Plant 4 has changed.',
      false,
    ],
    [new ServiceError('invalid-body', 'body/0/id must be an int64'), /^Body\/id must/, false],
    [new TypeError('a bug'), 'Unexpected error: TypeError: a bug', false],
    [undefined, 'Unexpected error: undefined', false],
  ] as const) {
    t.match(explain(error), text)
    t.equal(isTransient(error), passes, String(error))
  }
})

t.test('conditions on the tag and on own fields are added and removed', async (t) => {
  const tagIs = { kind: 'is', name: 'tag' } as const
  const noTag = { kind: 'without', name: 'tag' } as const
  const height = { kind: 'min', name: 'height' } as const
  const tree = withCondition({ q: 'abies', untagged: true }, tagIs, 'Tree')
  t.strictSame(tree, { q: 'abies', tag: 'Tree' })
  const high = withCondition(tree, height, '10')
  t.strictSame(high, { ...tree, filter: { height: { min: '10' } } })
  t.strictSame(conditionsIn(high), [
    { ...tagIs, values: ['Tree'] },
    { ...height, values: ['10'] },
  ])
  const untagged = withCondition(high, noTag, '')
  t.strictSame(untagged, { q: 'abies', untagged: true, filter: { height: { min: '10' } } })
  t.strictSame(conditionsIn(untagged)[0], { ...noTag, values: ['true'] })
  t.strictSame(withoutCondition(untagged, noTag), { q: 'abies', filter: high.filter })
  t.strictSame(withoutCondition(high, height), tree)
  t.strictSame(conditionsIn({}), [])
})

t.test('dates are written as people do, and other text stays', async (t) => {
  const date = new Date(Date.UTC(2026, 2, 21, 9, 30))
  const options = { dateStyle: 'medium' } as const
  const day = new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' })
  const time = new Intl.DateTimeFormat(undefined, { ...options, timeStyle: 'short' })
  t.equal(describeDate('2026-03-21', 'date'), day.format(date))
  t.equal(describeDate('2026-03-21T09:30:00Z', 'date-time'), time.format(date))
  t.equal(describeDate('2026-03-21', 'uri'), undefined)
  t.equal(describeDate('1990-12-31T23:59:60Z', 'date-time'), undefined, 'a leap second')
})

t.test('counts have separators, and the noun that suits them', async (t) => {
  t.equal(formatCount(1, 'plant'), '1 plant')
  t.equal(formatCount(0, 'plant'), '0 plants')
  t.equal(formatCount(32_800, 'plant'), '32,800 plants')
  t.equal(formatNumber(1_000_000), '1,000,000')
})
