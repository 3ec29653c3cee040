import t from 'tap'
import {
  findUnsafeSetting,
  type ServerSettings,
} from '../../../../src/stores/postgres/records/server-settings.ts'

const SOUND: ServerSettings = {
  server_encoding: 'UTF8',
  fsync: 'on',
  synchronous_commit: 'on',
  synchronous_standby_names: '',
  max_wal_senders: '10',
  client_min_messages: 'notice',
}

for (const [why, difference] of [
  ['the defaults', {}],
  ['commits that wait for the local disk only', { synchronous_commit: 'local' }],
  ['commits that wait for the memory of the standbys', { synchronous_commit: 'remote_write' }],
] as const) {
  t.test(`accepts settings: ${why}`, (t) => {
    t.equal(findUnsafeSetting({ ...SOUND, ...difference }), undefined)
    t.end()
  })
}

for (const [difference, reason] of [
  [{ server_encoding: 'SQL_ASCII' }, 'its encoding is SQL_ASCII, not UTF8'],
  [{ server_encoding: 'LATIN1' }, 'its encoding is LATIN1, not UTF8'],
  [{ fsync: 'off' }, 'fsync is off, so it can lose acknowledged changes'],
  [{ synchronous_commit: 'off' }, 'synchronous_commit is off, so it can lose acknowledged changes'],
  [
    { client_min_messages: 'error' },
    'client_min_messages is error, so it does not report changes that no standby has',
  ],
] as const) {
  t.test(`rejects settings: ${JSON.stringify(difference)}`, (t) => {
    t.equal(findUnsafeSetting({ ...SOUND, ...difference }), reason)
    t.end()
  })
}
