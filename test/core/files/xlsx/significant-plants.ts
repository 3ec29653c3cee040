import type { components } from '../../../../core/generated/api.gen.ts'
import { members as baseMembers } from '../../../../core/members/members.gen.ts'
import type { Member } from '../../../../core/members/members.ts'
import { describePlants } from '../../../../core/members/plant.ts'

type StoredPlant = components['schemas']['StoredPlant']

/** Those of plants, and an own one of each type. */
export const members: readonly Member[] = [
  ...baseMembers,
  ...(['int64', 'int32', 'number', 'boolean', 'string'] as const).map(
    (type): Member => ({ name: type, type, isRequired: false }),
  ),
]

/** What a spreadsheet could take for something else, and characters that are special in XML and in workbooks. */
const NAMES = [
  '=1+1',
  '+1',
  '-1',
  '@A1',
  "'=1",
  '007',
  '1/2',
  '1E5',
  '1e400',
  '12345678901234567890',
  '2026-11-25',
  '23:40',
  'TRUE',
  '#REF!',
  ' spaces ',
  '\ttabs\t',
  'line\nbreak',
  'return\rs',
  '🌲 Ä \u00a0\u202e',
  '<a href="x">&amp;</a>',
  '_x000D_ _x005F_',
  '\u0001\u001f\u007f\ufffe\uffff',
  'x'.repeat(32_767),
  '',
]

export const plants: readonly StoredPlant[] = [
  { id: -(2n ** 63n), name: 'smallest', int64: 2n ** 63n - 1n, number: 123_456_789.125 },
  ...NAMES.map((text, index) => ({ id: BigInt(index - 1), name: text, tag: text, string: text })),
  { id: 999_999_999_999_999n, name: 'no tag', int64: -99_999_999_999_999n, number: 0.1 },
  { id: 10n ** 15n, name: 'false', boolean: false, int32: -(2 ** 31), number: -1e21 },
  { id: 2n ** 63n - 1n, name: 'largest', boolean: true, int32: 0, number: 1.5e-300 },
] as StoredPlant[]

const { toFields } = describePlants(members)

/** The rows of their workbook. */
export const rows = [members.map(({ name }) => name), ...plants.map(toFields)]
