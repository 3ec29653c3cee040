import t from 'tap'
import { countStandbys } from '../../../../src/stores/postgres/connection/standby-guarantee.ts'

const SETTINGS = {
  synchronous_commit: 'on',
  synchronous_standby_names: 'ANY 2 (one, two, three)',
  max_wal_senders: '10',
}

for (const [names, count] of [
  ['', 0],
  [' ', 0],
  ['*', 1],
  ['one', 1],
  ['one, two', 1],
  ['"ANY 2 (one)"', 1],
  ['"2"', 1],
  ['FIRST 1 (one, two)', 1],
  ['first 2 (one, two, three)', 2],
  ['ANY 2 (one, two, three)', 2],
  [' any  3(*)', 3],
  ['2 (one, two)', 2],
  ['FIRST 12 (*)', 12],
] as const) {
  t.test(`synchronous_standby_names = '${names}' is ${count}`, async (t) => {
    t.equal(countStandbys({ ...SETTINGS, synchronous_standby_names: names }), count)
  })
}

for (const [level, count] of [
  ['on', 2],
  ['remote_apply', 2],
  ['remote_write', 0],
  ['local', 0],
  ['off', 0],
] as const) {
  t.test(`with synchronous_commit = ${level}, the standbys count as ${count}`, async (t) => {
    t.equal(countStandbys({ ...SETTINGS, synchronous_commit: level }), count)
  })
}

t.test('without WAL senders, there are no standbys', async (t) => {
  t.equal(countStandbys({ ...SETTINGS, max_wal_senders: '0' }), 0)
})
