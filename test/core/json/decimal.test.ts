import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { exactDecimal, readDecimal } from '../../../core/json/decimal.ts'
import { INEXACT } from '../../../core/json/int64.ts'
import { runs } from '../../helpers/plants/runs.ts'

const numbers: [text: string, value: number | typeof INEXACT][] = [
  ['0', 0],
  ['-0', 0],
  ['0e999999999', 0],
  [`0e${'9'.repeat(400)}`, 0],
  ['1e2', 100],
  ['-1e+0', -1],
  ['0.1', 0.1],
  ['0.10', 0.1],
  ['-0.00000000000000000000000000001', -1e-29],
  ['0.30000000000000004', 0.1 + 0.2],
  ['0.10000000000000001', 0.1],
  ['1.0000000000000001E-1', 0.1],
  ['0.29999999999999997', INEXACT],
  ['0.29999999999999999', 0.3],
  ['9223372036854775800', 2 ** 63],
  ['9223372036854775801', INEXACT],
  // Halfway between two numbers of 17 or 16 digits, so that both are correct.
  ['1125899906842624.2', 2 ** 50 + 0.25],
  ['1125899906842624.3', 2 ** 50 + 0.25],
  ['562949953421312.25', 2 ** 49 + 0.25],
  ['1125899906842624.1', INEXACT],
  ['0.1000000000000000055', INEXACT],
  ['9007199254740992', 2 ** 53],
  ['9007199254740993', INEXACT],
  ['123456789012345678', INEXACT],
  ['1e20', 1e20],
  ['100000000000000000000.000', 1e20],
  ['1.7976931348623157e308', Number.MAX_VALUE],
  ['1.7976931348623158e308', INEXACT],
  ['1e400', INEXACT],
  ['-1e999999999', INEXACT],
  ['5e-324', 5e-324],
  ['4e-324', INEXACT],
  ['4.8e-324', INEXACT],
  ['4.9406564584124654e-324', 5e-324],
  ['2.2250738585072014e-308', 2 ** -1022],
  ['1.2345678e-320', INEXACT],
  ['1e-999999999', INEXACT],
]

t.test('a decimal is the double that reproduces it, or INEXACT', async (t) => {
  for (const [text, value] of numbers) {
    t.ok(Object.is(exactDecimal(text), value), text)
    t.ok(Object.is(readDecimal(text), value === INEXACT ? undefined : value), text)
  }
})

t.test('text that is not a JSON number is not read', async (t) => {
  for (const text of [
    '',
    ' 1',
    '1 ',
    '+1',
    '01',
    '.5',
    '1.',
    '1e',
    '0x10',
    'NaN',
    'Infinity',
    '1,5',
  ])
    t.equal(readDecimal(text), undefined, text)
})

t.test('what JavaScript writes for a double is exact', async () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.equal(exactDecimal(String(value)), value === 0 ? 0 : value)
    }),
    { numRuns: runs(500) },
  )
})

t.test('what other languages write for a double is exact', async () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(finite, fc.integer({ min: 1, max: 17 }), (value, length) => {
      const text = value.toPrecision(length)
      // Other doubles can have the same digits.
      if (Number(text) === value) assert.equal(exactDecimal(text), value + 0)
      assert.equal(exactDecimal(value.toExponential(16)), value + 0)
    }),
    { numRuns: 1000 },
  )
})

t.test('a number of up to 15 digits is exact, in any notation', async () => {
  const digits = fc.integer({ min: 1, max: 999_999_999_999_999 })
  fc.assert(
    fc.property(digits, fc.integer({ min: -300, max: 290 }), (integer, exponent) => {
      const value = Number(`${integer}e${exponent}`)
      assert.equal(exactDecimal(`-${integer}e${exponent}`), -value)
      assert.equal(exactDecimal(`${integer}000e${exponent - 3}`), value)
      assert.equal(exactDecimal(`0.0${integer}E${exponent + String(integer).length + 1}`), value)
    }),
    { numRuns: runs(500) },
  )
})

t.test('a decimal between two doubles is INEXACT', async () => {
  const fraction = fc
    .double({ min: 1e-5, max: 1e5, noNaN: true })
    .filter((value) => value % 1 !== 0)
  fc.assert(
    fc.property(fraction, fc.integer({ min: 1, max: 9 }), (value, digit) => {
      assert.equal(exactDecimal(`${value}${'0'.repeat(20)}${digit}`), INEXACT)
    }),
  )
})

t.test('the time is linear', async (t) => {
  const zeros = '0'.repeat(2 ** 20)
  t.equal(exactDecimal(`1${zeros}1`), INEXACT)
  t.equal(exactDecimal(`0.${zeros}1`), INEXACT)
  t.equal(exactDecimal(`0.${zeros}1e${zeros.length}`), 0.1)
  t.equal(readDecimal(`1.${zeros}`), 1)
  t.equal(readDecimal(`1${zeros}x`), undefined)
})
