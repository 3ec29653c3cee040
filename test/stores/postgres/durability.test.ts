import t from 'tap'
import { findUnsafeSetting, type ServerSettings } from '../../../src/stores/postgres/durability.ts'

const SOUND: ServerSettings = {
  server_encoding: 'UTF8',
  fsync: 'on',
  synchronous_commit: 'on',
  synchronous_standby_names: '',
}

for (const [why, difference] of [
  ['the defaults', {}],
  ['another spelling of the encoding', { server_encoding: 'utf-8' }],
  ['a server without these settings', { server_encoding: null, fsync: null }],
  [
    'a server without settings for commits',
    { synchronous_commit: null, synchronous_standby_names: null },
  ],
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
] as const) {
  t.test(`rejects settings: ${JSON.stringify(difference)}`, (t) => {
    t.equal(findUnsafeSetting({ ...SOUND, ...difference }), reason)
    t.end()
  })
}
