import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { parseExactJson } from '../../src/contract/exact-json.ts'

const read = (text: string) => parseExactJson(Buffer.from(text))

t.test('a long integer between texts is exact, or NaN beyond int64', async (t) => {
  const cases: [text: string, value: bigint | number][] = [
    ['1234567890123456', 1234567890123456],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', Number.NaN],
    ['-9223372036854775809', Number.NaN],
    ['10000000000000000000', Number.NaN],
  ]
  for (const [text, value] of cases) {
    t.same(read(`{"name":"a","id":${text},"tag":"b"}`), { name: 'a', id: value, tag: 'b' }, text)
    t.same(read(` { "id" : ${text} } `), { id: value }, `${text}, alone`)
  }
})

t.test('of a member that comes twice the last one counts', async (t) => {
  const id = '9007199254740993'
  t.same(read(`{"id":"a","id":${id}}`), { id: 9007199254740993n })
  t.same(read(`{"id":${id},"id":"a"}`), { id: 'a' })
  t.same(read(`{"id":9007199254740995,"id":${id}}`), { id: 9007199254740993n })
})

t.test('a member named __proto__ is a member', async (t) => {
  const read1 = read('{"__proto__":9007199254740993}') as object
  t.same(Object.entries(read1), [['__proto__', 9007199254740993n]])
  t.equal(Object.getPrototypeOf(read1), Object.prototype)
})

t.test('a name that V8 misreads does not spoil what stands beside it', async (t) => {
  read(String.raw`{"id":9007199254740993,"\\":0}`)
  const object = read(String.raw`{"id":9007199254740993,"\"":0}`) as { id: bigint }
  t.equal(object.id, 9007199254740993n)
})

t.test(
  'an object reads the same whether its integer is found at once or by a reviver',
  async () => {
    const text = fc.oneof(
      fc.constantFrom(
        '"id"',
        '"',
        '\\"',
        ': 1234567890123456',
        '{"id":9007199254740993}',
        '\\',
        ',',
      ),
      fc.string(),
    )
    const number = fc
      .tuple(
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        fc.constantFrom('', '.0', '.5', 'e1'),
      )
      .map((parts) => parts.join(''))
    const value = fc.oneof(
      number,
      text.map((value) => JSON.stringify(value)),
      fc.constant('null'),
    )
    // A name with an escape V8 may misread, one time so and another time so (nodejs/node#63785).
    const name = fc
      .oneof(fc.constantFrom('id', 'name'), fc.string())
      .filter((name) => !/["\\]/.test(name))
    const member = fc.tuple(name, value)
    const space = fc.constantFrom('', ' ', '\n\t')
    fc.assert(
      fc.property(fc.array(member, { maxLength: 4 }), space, (members, space) => {
        const texts = members.map(
          ([name, value]) => `${JSON.stringify(name)}${space}:${space}${value}`,
        )
        const object = `${space}{${space}${texts.join(`${space},${space}`)}${space}}${space}`
        // Within an array it is always the reviver that finds them.
        assert.deepEqual([read(object)], read(`[${object}]`))
      }),
      { numRuns: 2000 },
    )
  },
)
