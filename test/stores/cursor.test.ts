import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { LISTED_TAG_MAX, TAG_CURSOR_MAX } from '../../service/store/plant-store.ts'
import {
  decodeCursor,
  decodeTagCursor,
  encodeCursor,
  encodeTagCursor,
} from '../../src/stores/shared/cursor.ts'
import { anyText } from '../helpers/plants/arbitraries.ts'

t.test('every cursor can be decoded', async () => {
  const cursor = fc.record(
    {
      feedId: fc.uint8Array({ minLength: 8, maxLength: 8 }),
      position: fc.bigInt(0n, 2n ** 63n - 1n),
      at: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      sequence: fc.bigInt(0n, 2n ** 63n - 1n),
    },
    { noNullPrototype: true, requiredKeys: ['feedId', 'position', 'at'] },
  )
  fc.assert(
    fc.property(cursor, (cursor) => {
      const text = encodeCursor(cursor)
      const { feedId = [], ...rest } = decodeCursor(text) ?? {}
      t.match(text, cursor.sequence === undefined ? /^[\w-]{35}$/ : /^[\w-]{46}$/)
      t.strictSame({ feedId: new Uint8Array(feedId), ...rest }, cursor)
    }),
  )
})

t.test('no other string can be decoded', async (t) => {
  const text = encodeCursor({ feedId: new Uint8Array(8), position: 1n, at: 1 })
  const long = encodeCursor({ feedId: new Uint8Array(8), position: 1n, at: 1, sequence: 0n })
  const negative = encodeCursor({ feedId: new Uint8Array(8), position: -1n, at: 1 })
  // The last character has two bits that a cursor leaves zero.
  for (const wrong of [
    '',
    text.slice(1),
    `${text.slice(0, -1)}R`,
    `${text}A`,
    `${long}A`,
    negative,
  ]) {
    t.equal(decodeCursor(wrong), undefined, wrong)
  }
})

const CURSORS = [
  encodeCursor({ feedId: randomBytes(8), position: 4711n, at: 1_790_000_000_000 }),
  encodeCursor({ feedId: randomBytes(8), position: 4711n, at: 1_790_000_000_000, sequence: 42n }),
]

t.test('a damaged cursor cannot be decoded', async (t) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const cursor of CURSORS) {
    const damaged = [...cursor].flatMap((_, index) => {
      const [before, after] = [cursor.slice(0, index), cursor.slice(index + 1)]
      return [...alphabet].map((character) => before + character + after)
    })
    const accepted = damaged.filter((each) => each !== cursor && decodeCursor(each) !== undefined)
    t.same(accepted, [])
  }
})

t.test('every cursor in a list of tags can be decoded, and only in its order', async () => {
  fc.assert(
    fc.property(anyText(), (tag) => {
      const cursor = encodeTagCursor('code-points', tag)
      t.match(cursor, /^[\w-]+$/)
      t.equal(decodeTagCursor('code-points', cursor), tag)
      t.equal(decodeTagCursor('md5', cursor), undefined)
      t.equal(decodeTagCursor('code-points', tag), undefined)
    }),
  )
})

t.test('the longest tag that is listed has the longest cursor', async (t) => {
  const tag = '\u{10ffff}'.repeat(LISTED_TAG_MAX)
  t.equal(encodeTagCursor('code-points', tag).length, TAG_CURSOR_MAX)
})
