/** What becomes of the selected plants. */
import t from 'tap'
import { known } from '../../../core/known.ts'
import { contentMembers, sharedMembers } from '../../../page/model/current-members.ts'
import { deletePlants, setMember } from '../../../page/selection/selected-changes.ts'
import { describeService, FIR, nurseryMember } from '../own-fields/nursery.ts'

const ABIES = { id: 1n, name: 'Abies', tag: 'Tree' }
const ACER = { id: 2n, name: 'Acer' }
const ALNUS = { id: 3n, name: 'Alnus', tag: '' }
const PLANTS = [ABIES, ACER, ALNUS]

const memberOf = (name: string) => known(contentMembers.find((member) => member.name === name))

t.test('plants cannot share a name', async (t) => {
  t.same(
    sharedMembers().map(({ name }) => name),
    ['tag'],
  )
  describeService(t)
  t.same(sharedMembers().length, 9)
})

t.test('plants that have the value already are left alone', async (t) => {
  t.strictSame(setMember(PLANTS, memberOf('tag'), 'Tree'), {
    title: 'Set tag to “Tree”',
    intents: [
      { id: 2n, before: ACER, after: { name: 'Acer', tag: 'Tree' } },
      { id: 3n, before: ALNUS, after: { name: 'Alnus', tag: 'Tree' } },
    ],
  })
})

t.test('no tag differs from an empty one', async (t) => {
  t.strictSame(setMember(PLANTS, memberOf('tag'), undefined), {
    title: 'Remove the tag',
    intents: [
      { id: 1n, before: ABIES, after: { name: 'Abies' } },
      { id: 3n, before: ALNUS, after: { name: 'Alnus' } },
    ],
  })
  t.match(setMember([ACER, ALNUS], memberOf('tag'), ''), {
    title: 'Set tag to “”',
    intents: [{ id: 2n, after: { name: 'Acer', tag: '' } }],
  })
})

t.test('a long value is cut in the title', async (t) => {
  t.match(setMember(PLANTS, memberOf('tag'), 'x'.repeat(61)), {
    title: `Set tag to “${'x'.repeat(60)}…”`,
    intents: [{ after: { tag: 'x'.repeat(61) } }, {}, {}],
  })
})

t.test('all plants are deleted', async (t) => {
  t.strictSame(deletePlants([ABIES, ACER]), {
    title: 'Delete plants',
    intents: [
      { id: 1n, before: ABIES, after: undefined },
      { id: 2n, before: ACER, after: undefined },
    ],
  })
})

for (const { name, text, value, title } of [
  { name: 'height', text: ' 90 ', value: 90, title: 'Set Height in cm to “90”' },
  { name: 'inStock', text: 'true', value: true, title: 'Set In stock to “Yes”' },
  { name: 'constructor', text: 'L.', value: 'L.', title: 'Set constructor to “L.”' },
  { name: 'height', text: undefined, value: undefined, title: 'Remove Height in cm' },
]) {
  t.test(`the own field ${name} becomes ${value}`, async (t) => {
    describeService(t)
    const { id, ...content } = FIR
    const { [name]: _, ...others } = content as Record<string, unknown>
    const after = value === undefined ? others : { ...content, [name]: value }
    const change = setMember([FIR], nurseryMember(name), text)
    t.strictSame(change, { title, intents: [{ id, before: FIR, after }] })
    const again = setMember([{ ...(after as typeof content), id }], nurseryMember(name), text)
    t.strictSame(again, { title, intents: [] })
  })
}

t.test('text that is no value is refused as in the form for a plant', async (t) => {
  describeService(t)
  t.equal(
    setMember([FIR], nurseryMember('height'), 'tall'),
    'Height in cm must be a whole number, written like 4 or -12.',
  )
})
