/** More kills than in `npm test`, some of them of a service with several HTTP threads. */
import { join } from 'node:path'
import t from 'tap'
import { History } from './history.ts'
import { killAtRandomMoments } from './kills.ts'

t.test('a service killed again and again keeps every acknowledged change', (t) => {
  const file = join(t.testdir(), 'plants.db')
  return killAtRandomMoments(t, { file, history: new History(), kills: 6 })
})
