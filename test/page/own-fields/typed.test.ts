/** What a person types for own fields. */
import t from 'tap'
import { comparedMembers } from '../../../page/drafts/compared-members.ts'
import { controlOf } from '../../../page/forms/control.ts'
import {
  blank,
  contentOf,
  findInvalid,
  textOf,
  toTyped,
  typedOf,
} from '../../../page/forms/typed.ts'
import { memberLabel } from '../../../page/text/display-text.ts'
import { describeService, FIR, fieldLike, nurseryMember } from './nursery.ts'

t.before(() => describeService(t))

t.test('each value becomes text, and the same value again', async (t) => {
  const typed = typedOf(FIR)
  t.strictSame(
    ['height', 'price', 'inStock', 'constructor', 'id2'].map((name) => textOf(typed, name)),
    ['120', '24.5', 'false', 'Mill.', '9007199254740993'],
  )
  const { id: _id, ...content } = FIR
  t.strictSame(contentOf(typed), content)
  t.equal(findInvalid(typed), undefined)
})

t.test('a form begins without values, whatever objects inherit', async (t) => {
  t.strictSame(contentOf(blank('4')), { name: '' })
  const { constructor: _text, ...stashed } = blank('4')
  t.equal(
    textOf(stashed as typeof stashed & { id: string; name: string; tag: string }, 'constructor'),
    undefined,
  )
})

for (const { name, text, value, problem } of [
  { name: 'height', text: ' 120 ', value: 120 },
  { name: 'price', text: '1e-7', value: 1e-7 },
  { name: 'inStock', text: 'true', value: true },
  { name: 'id2', text: '9223372036854775807', value: 9223372036854775807n },
  { name: 'constructor', text: ' Mill. ', value: ' Mill. ' },
  { name: 'height', text: '1.5', problem: 'must be a whole number, written like 4 or -12.' },
  { name: 'height', text: '1.0', problem: 'must be written without a decimal point, like 1.' },
  { name: 'height', text: '2147483648', problem: 'must be between -2147483648 and 2147483647.' },
  {
    name: 'id2',
    text: '9223372036854775808',
    problem: 'must be between -9223372036854775808 and 9223372036854775807.',
  },
  { name: 'inStock', text: 'maybe', problem: 'must be true or false.' },
  { name: 'price', text: '1.234,5', problem: 'must have a decimal point, not a comma.' },
  { name: 'price', text: '0.12345678901234567890', problem: 'must have fewer digits.' },
  { name: 'price', text: '007', problem: 'must be a number, written like 4 or -1.5.' },
]) {
  t.test(`${name}: "${text}" ${problem ?? 'is a value'}`, async (t) => {
    const typed = { ...blank('4'), [name]: text }
    const label = memberLabel(nurseryMember(name))
    t.strictSame(findInvalid(typed), problem && { name, problem: `${label} ${problem}` })
    if (problem === undefined) t.strictSame(contentOf(typed), { name: '', [name]: value })
  })
}

t.test('empty text is no value unless it can be one', async (t) => {
  for (const name of ['height', 'planted', 'light', 'photo']) {
    t.equal(toTyped(nurseryMember(name), ' '), undefined, name)
  }
  t.equal(toTyped(nurseryMember('height'), ' 1'), ' 1', 'what is typed stays')
  t.equal(toTyped(nurseryMember('constructor'), ''), '')
  t.equal(toTyped(fieldLike('constructor', { minLength: 1 }), ''), undefined)
  t.equal(toTyped(fieldLike('light', { enum: ['', 'sun'] }), ''), '')
})

t.test('each type has a control that suits it', async (t) => {
  const of = (name: string, text?: string) => controlOf(nurseryMember(name), text)
  t.match(of('height'), { kind: 'input', isDate: false, inputMode: 'numeric' })
  t.match(of('id2'), { inputMode: 'numeric' })
  t.match(of('price'), { inputMode: 'decimal' })
  t.match(of('photo'), { inputMode: 'url' })
  t.match(of('constructor'), { inputMode: 'text' })
  t.match(controlOf(fieldLike('photo', { format: 'email' }), undefined), { inputMode: 'email' })
  t.match(of('inStock'), { choices: [{ text: 'true' }, { text: 'false' }] })
})

t.test('a date has the control of the browser, unless it could not show the text', async (t) => {
  const planted = nurseryMember('planted')
  for (const [text, isDate] of [
    [undefined, true],
    ['2026-03-21', true],
    ['21 March', false],
  ] as const) {
    t.match(controlOf(planted, text), { isDate })
  }
})

t.test('a value that is not offered any more can be kept', async (t) => {
  const choices = (text?: string) => {
    const control = controlOf(fieldLike('light', { enum: ['', 'sun'] }), text)
    return control.kind === 'choice' && control.choices.map(({ label }) => label)
  }
  t.strictSame(choices(), ['Empty', 'sun'])
  t.strictSame(choices('sun'), ['Empty', 'sun'])
  t.strictSame(choices('dark'), ['Empty', 'sun', 'dark'])
})

t.test('the description and an example explain a field', async (t) => {
  const hint = (name: string, changes = {}) => controlOf(fieldLike(name, changes), undefined).hint
  t.equal(hint('height'), 'Measured above ground. Such as 120')
  t.equal(hint('constructor'), 'Who has bred it')
  t.equal(hint('constructor', { examples: ['Mill.'] }), 'Who has bred it. Such as Mill.')
  t.equal(hint('photo'), undefined)
  t.equal(hint('photo', { format: 'date-time' }), 'Such as 2026-03-21T09:30:00+01:00')
})

t.test('of two plants, the own fields that differ are compared', async (t) => {
  const compared = (other: Parameters<typeof comparedMembers>[1]) =>
    comparedMembers(FIR, other).map(({ name }) => name)
  t.strictSame(compared({ ...FIR, ...{ height: 121, id2: undefined } }), [
    'name',
    'tag',
    'height',
    'id2',
  ])
  t.equal(compared(undefined).length, 10)
})
