import t from 'tap'
import { WaitingChanges } from '../../src/stores/waiting-changes.ts'

const change = (text: number) => ({ changes: 1, text })

t.test('batches leave room for single changes', async (t) => {
  const waiting = new WaitingChanges()
  t.ok(waiting.add({ changes: 7500, text: 0 }))
  t.notOk(waiting.add({ changes: 501, text: 0 }))
  t.ok(waiting.add({ changes: 500, text: 0 }))
  for (let room = 2000; room > 0; room--) t.ok(waiting.add(change(0)))
  t.notOk(waiting.add(change(0)))
  t.notOk(waiting.add({ changes: 2, text: 0 }))
})

t.test('threads share the limit on the number of waiting changes', async (t) => {
  const one = new WaitingChanges()
  const other = new WaitingChanges(one.memory)
  let added = 0
  while (added < 5000 && one.add(change(0)) && other.add(change(0))) added++
  t.equal(added, 5000)
  t.notOk(one.add(change(0)))
  t.notOk(other.add(change(0)))
  t.equal(`${other}`, '10000 changes with 0 characters')
  one.remove({ changes: 2, text: 0 })
  t.ok(other.add(change(0)))
  t.ok(other.add(change(0)))
  t.notOk(other.add(change(0)))
})

t.test('threads share the limit on the text of waiting changes', async (t) => {
  const one = new WaitingChanges()
  const other = new WaitingChanges(one.memory)
  t.ok(one.add(change(2 ** 26 - 1)))
  t.ok(other.add(change(10)), 'the last change may exceed the limit')
  t.notOk(one.add(change(0)))
  t.equal(`${one}`, `2 changes with ${2 ** 26 + 9} characters`, 'a rejected change is not counted')
  other.remove(change(10))
  t.ok(one.add(change(2 ** 30 - 1)), 'as large as a body can be')
  t.equal(`${one}`, `2 changes with ${2 ** 26 + 2 ** 30 - 2} characters`)
})
