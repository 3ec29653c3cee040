/** Own fields in the table. */
import t from 'tap'
import { extendContract, loadContract } from '../../../core/contract/contract.ts'
import { OWN_FIELDS_MAX } from '../../../core/members/own-fields.ts'
import { PlantList } from '../../../page/list/plant-list.ts'
import {
  hasSameContent,
  int64Fields,
  members,
  textLength,
} from '../../../page/model/current-members.ts'
import {
  columnMembers,
  fieldArea,
  fieldTracks,
  isNumeric,
} from '../../../page/table/field-columns.ts'
import { memberLabel } from '../../../page/text/display-text.ts'
import { linkTarget } from '../../../page/text/links.ts'
import { describeService, FIR, fieldLike, nurseryMember } from './nursery.ts'

t.test('without own fields, the table has no columns for them', async (t) => {
  t.strictSame(columnMembers(), [])
  t.strictSame(fieldTracks(), { tracks: '', width: '0px' })
})

t.test('each own field has a column', async (t) => {
  describeService(t)
  t.same(members.length, 11)
  t.strictSame(int64Fields, ['id2'])
  t.strictSame(columnMembers().filter(isNumeric).map(memberLabel), ['Height in cm', 'price', 'id2'])
  const { tracks, width } = fieldTracks()
  const widths = [120, 144, 144, 144, 120, 88, 144, 120]
  t.equal(tracks, widths.map((width) => `[field] ${width}px`).join(' '))
  t.equal(width, '1152px')
  t.strictSame(fieldArea(0), { '--column': 'field 1' })
})

t.test('a table of many fields has columns for the first ones', async (t) => {
  const names = Array.from({ length: OWN_FIELDS_MAX }, (_, index) => `field ${index}`)
  const fields = names.map((name) => ({ name, schema: { type: 'string' } as const }))
  describeService(t, extendContract(loadContract(), fields))
  t.strictSame(columnMembers().map(memberLabel), names.slice(0, 20))
})

t.test('a blank title is no label', async (t) => {
  t.equal(memberLabel(fieldLike('light', { title: ' ' })), 'light')
  t.equal(memberLabel(nurseryMember('planted')), 'Planted on')
})

t.test('a change of an own field alone changes a row', async (t) => {
  describeService(t)
  t.notOk(hasSameContent(FIR, { ...FIR, ...{ inStock: true } }))
  const list = new PlantList({ filter: {} })
  list.append([FIR], true)
  t.equal(list.apply({ id: FIR.id, plant: FIR }), 'none')
  t.equal(list.apply({ id: FIR.id, plant: { ...FIR, ...{ inStock: true } } }), 'changed')
})

t.test('the text of own fields counts when plants are forgotten', async (t) => {
  describeService(t)
  t.equal(textLength(FIR) - textLength({ name: FIR.name, tag: FIR.tag }), 85)
})

for (const { uri, isLink } of [
  { uri: 'https://plants.example/a?b#c', isLink: true },
  { uri: 'HTTP://plants.example', isLink: true },
  { uri: 'javascript:alert(1)', isLink: false },
  { uri: ' https://plants.example', isLink: false },
  { uri: 'java\nscript:alert(1)//https://', isLink: false },
  { uri: 'data:text/html,<script>', isLink: false },
  { uri: 'https://', isLink: false },
  { uri: 'urn:isbn:0', isLink: false },
]) {
  t.test(`${JSON.stringify(uri)} is ${isLink ? 'a' : 'no'} link`, async (t) => {
    t.equal(linkTarget(uri), isLink ? uri : undefined)
  })
}
