import t from 'tap'
import { WaitingChanges } from '../../src/stores/group-commit.ts'

const change = (text: number) => ({ changes: 1, text })

t.test('batches leave room for single changes', async (t) => {
  const waiting = new WaitingChanges()
  t.ok(waiting.add({ changes: 7500, text: 0 }))
  t.notOk(waiting.add({ changes: 501, text: 0 }))
  t.ok(waiting.add({ changes: 500, text: 0 }))
  for (let room = 2000; room > 0; room--) t.ok(waiting.add(change(0)))
  t.notOk(waiting.add(change(0)))
  t.notOk(waiting.add({ changes: 2, text: 0 }))
  t.equal(`${waiting}`, '10000 changes with 0 characters')
  waiting.remove({ changes: 2, text: 0 })
  t.ok(waiting.add(change(0)))
  t.ok(waiting.add(change(0)))
  t.notOk(waiting.add(change(0)))
})

t.test('the text of waiting changes is limited', async (t) => {
  const waiting = new WaitingChanges()
  t.ok(waiting.add(change(2 ** 26 - 1)))
  t.ok(waiting.add(change(10)), 'the last change may exceed the limit')
  t.notOk(waiting.add(change(0)))
  t.equal(`${waiting}`, `2 changes with ${2 ** 26 + 9} characters`)
  waiting.remove(change(10))
  t.ok(waiting.add(change(2 ** 30 - 1)), 'as large as a body can be')
  t.equal(`${waiting}`, `2 changes with ${2 ** 26 + 2 ** 30 - 2} characters`)
})

for (const { threads, changes, batches } of [
  { threads: 2, changes: 5000, batches: 4 },
  { threads: 256, changes: 2500, batches: 2 },
]) {
  t.test(`each of ${threads} threads has a part of the limits`, async (t) => {
    const waiting = new WaitingChanges(threads)
    t.ok(waiting.add(change(2 ** 26 / threads - 1)))
    waiting.remove({ changes: 0, text: 2 })
    for (let batch = 0; batch < batches - 1; batch++) {
      t.ok(waiting.add({ changes: 1000, text: 0 }))
    }
    t.ok(waiting.add({ changes: 999, text: 0 }))
    t.notOk(waiting.add({ changes: 2, text: 0 }))
    while (waiting.count < changes) t.ok(waiting.add(change(0)))
    t.notOk(waiting.add(change(0)))
    waiting.remove({ changes: 10, text: 0 })
    t.ok(waiting.add(change(1)))
    t.ok(waiting.add(change(0)))
    t.ok(waiting.add(change(2 ** 30)), 'at least one body')
    t.notOk(waiting.add(change(0)))
  })
}
