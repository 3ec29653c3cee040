/** Transactions that the server rolls back in favor of others, as engines with serializable transactions do. */

import t, { type Test } from 'tap'
import { changeRequiredStandbys } from '../../../../src/stores/postgres/postgres-database.ts'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { createAll } from '../../../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../../helpers/service/shared-postgres.ts'
import { exported } from '../../plants.ts'
import { type Database, emptyDatabases } from '../databases.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

/** How many commits fail before one succeeds. */
const FAILURES = 3

async function open(t: Test, { url }: Database): Promise<PostgresStore> {
  const store = await PostgresStore.open({ url, timeout: 60_000 })
  t.teardown(() => store.close())
  return store
}

/** Makes the next commits that change plants fail with 40001. A rollback does not undo the sequence. */
async function failCommits({ query }: Database): Promise<void> {
  await query('CREATE SEQUENCE IF NOT EXISTS commits')
  await query(`SELECT setval('commits', 1, false)`)
  await query(`
    CREATE OR REPLACE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('commits') <= ${FAILURES} THEN
        RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001';
      END IF;
      RETURN NULL;
    END $$`)
  await query('DROP TRIGGER IF EXISTS fail_commit ON plants')
  await query(`
    CREATE CONSTRAINT TRIGGER fail_commit AFTER INSERT OR UPDATE OR DELETE ON plants
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_commit()`)
}

async function makeChanges(t: Test, place: Database, store: PostgresStore): Promise<void> {
  const changes: readonly [change: () => Promise<unknown>, result: unknown][] = [
    [() => createIn(store, { id: 1n, name: 'x' }), 'created'],
    [() => createAll(store, [{ id: 2n, name: 'x' }]), ['created']],
    [() => importPlants(store, [{ id: 3n, name: 'x' }], 'stop'), ['created']],
    [() => updateIn(store, 1n, { name: 'y' }), { id: 1n, name: 'y' }],
    [() => updateIn(store, 1n, { name: 'z' }, ['name=y']), { id: 1n, name: 'z' }],
    [() => removeFrom(store, 2n), 'removed'],
  ]
  for (const [change, result] of changes) {
    await failCommits(place)
    t.same(await change(), result)
    const [row] = await place.query<{ last_value: string }>('SELECT last_value FROM commits')
    t.equal(row?.last_value, String(FAILURES + 1))
  }
  t.same(await exported(store), [
    { id: 1n, name: 'z' },
    { id: 3n, name: 'x' },
  ])
}

t.test('changes are repeated if their commits are rolled back', async (t) => {
  const place = await database()
  await makeChanges(t, place, await open(t, place))
})

t.test('so are changes whose commits are verified', async (t) => {
  const place = await database()
  const before = await open(t, place)
  await before.close()
  // The server waits for no standby, but this pretends that it does.
  await place.query(
    `CREATE FUNCTION current_setting(text) RETURNS text LANGUAGE sql AS $$
       SELECT CASE $1 WHEN 'synchronous_standby_names' THEN '*' ELSE pg_catalog.current_setting($1) END
     $$`,
  )
  await place.query(`ALTER DATABASE ${place.name} SET search_path = public, pg_catalog`)
  await changeRequiredStandbys({ url: place.url, timeout: 60_000 }, 1)
  await makeChanges(t, place, await open(t, place))
})
