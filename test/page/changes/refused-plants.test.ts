import t from 'tap'
import { RefusedPlants } from '../../../page/changes/refused-plants.ts'
import { toFields } from '../../../page/model/current-members.ts'

t.test('the refused plants of a change have no numbers', async (t) => {
  const refused = new RefusedPlants()
  const stored = { id: 4n, name: 'Acer', tag: 'Shrub' }
  refused.add({ reason: 'deleted', fields: toFields({ id: 3n, name: 'Abies', tag: 'Tree' }) })
  refused.add({ reason: 'changed', fields: toFields({ id: 4n, name: 'Acer' }), stored })
  t.equal(refused.count, 2)
  t.match(refused.shown, [
    { number: undefined, reason: 'deleted', storedFields: undefined },
    { number: undefined, reason: 'changed', storedFields: ['4', 'Acer', 'Shrub'] },
  ])
  t.same((await refused.toFile().text()).split('\n'), [
    'reason,id,name,tag,stored name,stored tag',
    'deleted,3,Abies,Tree,,',
    'changed,4,Acer,,Acer,Shrub',
    '',
  ])
})
