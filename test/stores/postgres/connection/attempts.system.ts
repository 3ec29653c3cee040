import t, { type Test } from 'tap'
import { contentVersion } from '../../../../service/store/content-version.ts'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { startPostgres } from '../../../../tools/postgres/postgres-server.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { createIn, removeFrom, updateIn } from '../../../helpers/plants/single-changes.ts'
import { emptyDatabases } from '../databases.ts'

const { server, emptyDatabase } = await startPostgres(t)
const database = emptyDatabases(server, emptyDatabase)

const ATTEMPTS = 100

/** A store on which the server skips every change of a plant, as if another one always came first. */
async function contendedStore(t: Test) {
  const { url, query } = await database()
  const store = await PostgresStore.open({ url, timeout: 60_000 })
  t.teardown(() => store.close())
  await createIn(store, { id: 1n, name: 'x' })
  await query(`
    CREATE SEQUENCE attempts;
    CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('attempts'); RETURN NULL; END $$;
    CREATE TRIGGER skip BEFORE INSERT OR UPDATE OR DELETE ON plants FOR EACH ROW EXECUTE FUNCTION skip()`)
  const attempts = async () => {
    const [row] = await query<{ last_value: string }>('SELECT last_value FROM attempts')
    return Number(row?.last_value)
  }
  return { store, attempts }
}

const expected = [contentVersion({ name: 'x' })]

const CHANGES: readonly [what: string, change: (store: PostgresStore) => Promise<unknown>][] = [
  ['update', (store: PostgresStore) => updateIn(store, 1n, { name: 'y' }, expected)],
  ['remove', (store: PostgresStore) => removeFrom(store, 1n, expected)],
  ['create', (store: PostgresStore) => createIn(store, { id: 2n, name: 'x' })],
  ['import', (store: PostgresStore) => importPlants(store, [{ id: 2n, name: 'x' }], 'stop')],
]
for (const [what, change] of CHANGES) {
  t.test(`${what}: gives up after ${ATTEMPTS} attempts`, async (t) => {
    const { store, attempts } = await contendedStore(t)
    await t.rejects(change(store), {
      name: 'StoreUnavailable',
      reason: 'busy',
      detail: `concurrent changes to the same plants interfered with ${ATTEMPTS} attempts`,
    })
    t.equal(await attempts(), ATTEMPTS)
  })
}
