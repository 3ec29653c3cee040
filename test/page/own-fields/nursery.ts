import type { Test } from 'tap'
import { extendContract, loadContract, plantMembers } from '../../../core/contract/contract.ts'
import { known } from '../../../core/known.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { isOwn, members, type OwnMember, setMembers } from '../../../page/model/current-members.ts'

/** The own fields of a nursery, of each type. Some have names that every object inherits, or that resemble another. */
export const FIELDS: readonly OwnField[] = [
  {
    name: 'height',
    schema: {
      type: 'integer',
      format: 'int32',
      minimum: 0,
      maximum: 10_000,
      title: 'Height in cm',
      description: 'Measured above ground.',
      examples: [120],
    },
  },
  { name: 'planted', schema: { type: 'string', format: 'date', title: 'Planted on' } },
  { name: 'light', schema: { type: 'string', enum: ['sun', 'half shade', 'shade'] } },
  { name: 'photo', schema: { type: 'string', format: 'uri' } },
  { name: 'price', schema: { type: 'number', minimum: 0 } },
  { name: 'inStock', schema: { type: 'boolean', title: 'In stock' } },
  { name: 'constructor', schema: { type: 'string', description: 'Who has bred it' } },
  { name: 'id2', schema: { type: 'integer', format: 'int64' } },
]

export const NURSERY = extendContract(loadContract(), FIELDS)

/** Makes the page's logic that of a service with a contract, until the test ends. */
export function describeService(t: Test, contract = NURSERY): void {
  const before = members
  setMembers(plantMembers(contract))
  t.teardown(() => setMembers(before))
}

/** A member of the nursery's plants. */
export function nurseryMember(name: string): OwnMember {
  return known(
    plantMembers(NURSERY)
      .filter(isOwn)
      .find((member) => member.name === name),
  )
}

/** The same with other keywords. */
export function fieldLike(name: string, changes: Partial<OwnMember['schema']>): OwnMember {
  const member = nurseryMember(name)
  return { ...member, schema: { ...member.schema, ...changes } }
}

/** A plant that has a value for each member. */
export const FIR = {
  id: 7n,
  name: 'Abies',
  tag: 'Tree',
  height: 120,
  planted: '2026-03-21',
  light: 'half shade',
  photo: 'https://plants.example/abies.jpg',
  price: 24.5,
  inStock: false,
  constructor: 'Mill.',
  id2: 9007199254740993n,
}
