import t from 'tap'
import { contentVersion } from '../../../service/store/content-version.ts'
import type { NewPlant } from '../../../service/store/plant-store.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createAll } from '../../helpers/plants/lists.ts'
import { createIn, updateIn } from '../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { storeSuite } from '../store-suite.ts'

const { migratedDatabase } = await sharedPostgres()

storeSuite(t, 'PostgreSQL', {
  lasting: true,
  place: async () => {
    const url = await migratedDatabase()
    return (options) => PostgresStore.open({ url, timeout: 60_000, ...options })
  },
})

const open = async () => PostgresStore.open({ url: await migratedDatabase(), timeout: 60_000 })

t.test('close can be called again', async () => {
  const store = await open()
  await Promise.all([store.close(), store.close()])
  await store.close()
})

t.test('close waits for reads, and for both statements of a conditional update', async (t) => {
  const store = await open()
  await createIn(store, { id: 1n, name: 'x' })
  const update = updateIn(store, 1n, { name: 'y' }, [contentVersion({ name: 'x' })])
  const reads = [
    store.get(2n),
    store.list({ limit: 1, tag: 'z' }),
    new TokenStore(store).list(),
  ] as const
  await store.close()
  t.strictSame(await update, { id: 1n, name: 'y' })
  t.match(await Promise.all(reads), [undefined, { json: '[]' }, []])
})

t.test('an error that is a bug is passed on unchanged', async (t) => {
  const store = await open()
  t.teardown(() => store.close())
  const mistyped = { id: 1n, name: null as unknown } as NewPlant
  await t.rejects(createIn(store, mistyped), { code: '23502' }, 'not_null_violation')
  const invalid = { id: 1n, name: '\u0000' }
  await t.rejects(createIn(store, invalid), { code: '22021' }, 'not in the encoding')
  await t.rejects(importPlants(store, [invalid], 'stop'), { code: '22021' })
  await t.rejects(createAll(store, [invalid]), { code: '22021' })
  await t.rejects(store.get(2n ** 63n), { code: '22003' }, 'numeric_value_out_of_range')
  const unbindable = { id: 1n, name: { x: 1n } as unknown } as NewPlant
  await t.rejects(importPlants(store, [unbindable], 'stop'), TypeError)
  t.equal(await createIn(store, { id: 1n, name: 'x' }), 'created', 'the store still works')
})
