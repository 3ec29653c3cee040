import t from 'tap'
import { WaitingChanges } from '../../src/stores/waiting-changes.ts'

t.test('threads share the limit on the number of waiting changes', async (t) => {
  const one = new WaitingChanges()
  const other = new WaitingChanges(one.memory)
  let added = 0
  while (added < 5000 && one.add(0) && other.add(0)) added++
  t.equal(added, 5000)
  t.notOk(one.add(0))
  t.notOk(other.add(0))
  t.equal(`${other}`, '10000 changes with 0 characters')
  one.remove([{ text: 0 }, { text: 0 }])
  t.ok(other.add(0))
  t.ok(other.add(0))
  t.notOk(other.add(0))
})

t.test('threads share the limit on the text of waiting changes', async (t) => {
  const one = new WaitingChanges()
  const other = new WaitingChanges(one.memory)
  t.ok(one.add(2 ** 26 - 1))
  t.ok(other.add(10), 'the last change may exceed the limit')
  t.notOk(one.add(0))
  t.equal(`${one}`, `2 changes with ${2 ** 26 + 9} characters`, 'a rejected change is not counted')
  other.remove([{ text: 10 }])
  t.ok(one.add(2 ** 30 - 1), 'as large as a body can be')
  t.equal(`${one}`, `2 changes with ${2 ** 26 + 2 ** 30 - 2} characters`)
})
