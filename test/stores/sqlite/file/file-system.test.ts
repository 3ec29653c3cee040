import { join } from 'node:path'
import t from 'tap'
import { adviseOnFileSystem } from '../../../../src/stores/sqlite/file/file-system.ts'
import { SqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts'

for (const [type, name] of [
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0x65735546, 'FUSE'],
] as const) {
  t.test(`a database on ${name} is named`, async (t) => {
    const statfs = (file: string) => ({ type: file === '/plants.db' ? type : 0 })
    t.match(adviseOnFileSystem('/plants.db', statfs, 'linux'), [
      new RegExp(`^the database /plants.db is on ${name}, whose locks .*: keep it on a local disk`),
    ])
    t.same(adviseOnFileSystem('/plants.db', statfs, 'darwin'), [], 'elsewhere, types differ')
  })
}

t.test('a local database has no warning', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  for (const database of [file, ':memory:']) {
    const store = new SqliteStore({ file: database, lockTimeout: 0 })
    t.same(store.advise(), { warnings: [] })
    await store.ping()
    await store.close()
  }
})
