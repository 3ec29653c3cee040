import t from 'tap'
import { refuseSettings, type ServerSettings } from '../../../src/stores/postgres/durability.ts'

const SOUND: ServerSettings = {
  server_encoding: 'UTF8',
  fsync: 'on',
  synchronous_commit: 'on',
  synchronous_standby_names: '',
}

for (const [why, difference] of [
  ['as a server is that nobody has changed', {}],
  ['the name that others give the encoding', { server_encoding: 'utf-8' }],
  ['an engine that has none of these settings', { server_encoding: null, fsync: null }],
  ['not even that of a commit', { synchronous_commit: null, synchronous_standby_names: null }],
  ['on the disk of this one only', { synchronous_commit: 'local' }],
  ['in the memory of the standbys', { synchronous_commit: 'remote_write' }],
] as const) {
  t.test(`settings that plants can be entrusted to: ${why}`, (t) => {
    t.equal(refuseSettings({ ...SOUND, ...difference }), undefined)
    t.end()
  })
}

for (const [difference, reason] of [
  [{ server_encoding: 'SQL_ASCII' }, 'its encoding is SQL_ASCII, not UTF8'],
  [{ server_encoding: 'LATIN1' }, 'its encoding is LATIN1, not UTF8'],
  [{ fsync: 'off' }, 'it has fsync = off, and may lose what it has acknowledged'],
  [
    { synchronous_commit: 'off' },
    'it has synchronous_commit = off, and may lose what it has acknowledged',
  ],
] as const) {
  t.test(`settings that are refused: ${JSON.stringify(difference)}`, (t) => {
    t.equal(refuseSettings({ ...SOUND, ...difference }), reason)
    t.end()
  })
}
