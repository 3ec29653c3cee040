import t from 'tap'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { startPostgres } from '../../helpers/postgres.ts'
import { storeSuite } from '../store-suite.ts'

const { emptyDatabase } = await startPostgres(t)

storeSuite('PostgreSQL', {
  lasting: true,
  place: async () => {
    const url = await emptyDatabase()
    return () => PostgresStore.open({ url, timeout: 10_000 })
  },
})
