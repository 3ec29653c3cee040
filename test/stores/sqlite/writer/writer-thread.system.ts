import { join } from 'node:path'
import t from 'tap'
import { SqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts'
import { inMemory, makeFolder } from '../../../../tools/tap/temporary-folders.ts'
import { writerSuite } from '../../store-suite.ts'

const folder = makeFolder(t, inMemory())
let databases = 0

writerSuite(t, 'SQLite with a writer thread', {
  lasting: true,
  place: () => {
    const file = join(folder, `${++databases}.db`)
    return async (options) => new SqliteStore({ file, lockTimeout: 60_000, ...options })
  },
})
