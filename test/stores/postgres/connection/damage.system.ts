/** A server that reports damaged data. */

import t from 'tap'
import { readRestriction } from '../../../../service/restriction.ts'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { damagedError } from '../../../../src/stores/shared/store-error.ts'
import { createIn, removeFrom } from '../../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../../helpers/service/shared-postgres.ts'
import { exported } from '../../plants.ts'
import { emptyDatabases } from '../databases.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

const REFUSED = damagedError('the server reported damaged data earlier')

for (const [code, find] of [
  ['XX001', (store: PostgresStore) => createIn(store, { id: 2n, name: 'damaged' })],
  ['XX002', (store: PostgresStore) => exported(store)],
] as const) {
  t.test(`after ${code}, changes are refused until another server takes over`, async (t) => {
    const { url, name, query } = await database()
    const problems: string[] = []
    const onProblem = (problem: string) => problems.push(problem)
    // A server that starts when the test says.
    await query("CREATE TABLE server_start AS SELECT timestamptz '2026-01-01' AS at")
    await query(`CREATE FUNCTION public.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql
      AS 'SELECT at FROM public.server_start'`)
    await query(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`)
    const store = await PostgresStore.open({ url, timeout: 10_000, onProblem })
    t.teardown(() => store.close())
    await createIn(store, { id: 1n, name: 'Abies' })
    await query(`CREATE FUNCTION damage() RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'damaged' USING ERRCODE = '${code}'; END $$`)
    await query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM damage(); RETURN NULL; END $$`)
    await query(`CREATE TRIGGER refuse BEFORE INSERT ON plants FOR EACH ROW
      WHEN (new.name = 'damaged') EXECUTE FUNCTION refuse()`)
    if (code === 'XX002') {
      await query('ALTER TABLE plants RENAME TO stored')
      await query('CREATE VIEW plants AS SELECT * FROM stored WHERE damage()')
    }
    await readRestriction(store)
    t.same(problems, [])

    const found: Promise<unknown> = find(store)
    await t.rejects(found, damagedError(`${code}: damaged`))
    if (code === 'XX002') {
      await query('DROP VIEW plants')
      await query('ALTER TABLE stored RENAME TO plants')
    }
    for (let time = 0; time < 2; time++) {
      await t.rejects(createIn(store, { id: 3n, name: 'Bellis' }), REFUSED)
      await t.rejects(removeFrom(store, 1n), REFUSED)
      await t.rejects(store.ping(), REFUSED)
    }
    t.match(problems, [/^the server reports damaged data, so the service is not ready and rejects/])
    t.match(await store.get(1n), { name: 'Abies' }, 'what is sound can be read')

    await query("UPDATE server_start SET at = '2026-01-02'")
    await store.ping()
    t.equal(await createIn(store, { id: 3n, name: 'Bellis' }), 'created')
    t.equal(problems.length, 1)
  })
}
