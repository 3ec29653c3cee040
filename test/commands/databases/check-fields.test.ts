/** What `plant-store check --contract` says about stored own fields. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FieldSchema, OwnField } from '../../../core/members/own-fields.ts'
import type { PlantChange } from '../../../service/store/plant-store.ts'
import { checkFields } from '../../../src/commands/databases/check-fields.ts'
import { adoptFields } from '../../../src/start/field-adoption.ts'
import { openStore } from '../../../src/stores/engines.ts'
import type { Store } from '../../../src/stores/shared/store.ts'
import { readStoredFields } from '../../../src/stores/shared/stored-fields.ts'
import { updateIn } from '../../helpers/plants/single-changes.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { sqlite } from '../../helpers/service/engine.ts'
import { writeOverlay } from '../../helpers/service/overlay.ts'
import { readSetting } from '../../helpers/service/settings.ts'
import { insertToken } from '../../helpers/service/token-rows.ts'

const KEEP = { hide: false }

const height = (maximum: number): OwnField => ({
  name: 'height',
  schema: { type: 'integer', format: 'int32', minimum: 0, maximum },
})
const light = (...values: string[]): OwnField => ({
  name: 'light',
  schema: { type: 'string', enum: values },
})
const inStock: OwnField = { name: 'inStock', schema: { type: 'boolean' } as FieldSchema }

/** A database with fields and plants. */
async function populate(t: Test, plants: readonly (string | undefined)[]) {
  const { database } = await sqlite(t)
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  await adoptFields(store, [height(500), light('sun', 'shade')], KEEP)
  const changes = plants.map((fields, index): PlantChange => {
    const plant = { id: BigInt(index), name: 'Abies' }
    return { type: 'create', ...plant, ...(fields !== undefined && { fields }) }
  })
  await store.apply(changes, 'each')
  return { database, store }
}

async function results(store: Store, fields: readonly OwnField[]): Promise<string[]> {
  const lines: string[] = []
  for await (const { subject, status, message } of checkFields(store, fields)) {
    lines.push(`${status} ${subject}: ${message}`)
  }
  return lines
}

t.test('a start with narrower fields is accepted after a check', async (t) => {
  const { database, store } = await populate(t, ['"height":300', '"light":"sun"', undefined])
  const narrower = [height(300), light('sun')]
  await t.rejects(adoptFields(store, narrower, KEEP))
  const args = ['check', '--database', database, '--contract', writeOverlay(t, narrower)]
  const { code, stdout } = await runHere(args)
  t.equal(code, 0)
  t.match(
    stdout,
    /\nok {4}fields: plants with height: 1\nok {4}fields: plants with light: 1\nok {4}contract: the service can start with it\n$/,
  )
  t.same(await adoptFields(store, narrower, KEEP), [])
  t.same((await readStoredFields(store)).fields, narrower)
})

t.test('values that the contract does not allow are faults', async (t) => {
  const { database, store } = await populate(t, [
    '"height":300',
    '"height":301,"light":"shade"',
    undefined,
  ])
  const narrower = [height(300), light('sun'), inStock]
  const args = ['check', '--database', database, '--contract', writeOverlay(t, narrower)]
  const { code, stdout } = await runHere(args)
  t.equal(code, 2)
  t.match(
    stdout,
    /\nFAIL {2}fields: plant 1: height must be .*300\nFAIL {2}fields: plant 1: light must be .*sun/,
  )
  t.match(
    stdout,
    /\nok {4}fields: plants with height: 2\n.* plants with light: 1\n.* plants with inStock: 0\n$/,
  )
  await t.rejects(adoptFields(store, narrower, KEEP), /300/)
})

t.test('only the first invalid values are listed', async (t) => {
  const { store } = await populate(
    t,
    Array.from({ length: 13 }, () => '"height":400'),
  )
  const lines = await results(store, [height(300)])
  t.match(lines[9], /^fault fields: plant 9: /)
  t.same(lines.slice(10), ['fault fields: 3 more', 'ok fields: plants with height: 13'])
})

t.test('a check whose result is not needed stores nothing', async (t) => {
  const { store } = await populate(t, ['"height":400'])
  const before = await readSetting(store, 'fields')
  for (const wider of [height(500), height(1000)]) {
    t.match(await results(store, [wider]), { length: 2 })
  }
  t.equal(await readSetting(store, 'fields'), before)
})

t.test('a check during which plants change is repeated, if the fields are narrower', async (t) => {
  const { database, store } = await populate(t, ['"height":300'])
  const other = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => other.close())
  const changing = (fields: readonly OwnField[]) => async () => {
    for await (const _ of checkFields(store, fields)) {
      await updateIn(other, 0n, { name: `Abies ${Math.random()}` })
    }
  }
  await t.rejects(changing([height(300)]), /plants changed during the check.*: stop or freeze/)
  await t.resolves(changing([height(500)]))
  await t.rejects(adoptFields(store, [height(300)], KEEP), /300/)
})

t.test('the plants of a faulty database are not checked', async (t) => {
  const { database, store } = await populate(t, ['"height":300'])
  await store.close()
  const { default: Sqlite } = await import('better-sqlite3')
  new Sqlite(database).exec(insertToken('short', '00', '00')).close()
  const args = ['check', '--database', database, '--contract', writeOverlay(t, [height(300)])]
  const { code, stdout } = await runHere(args)
  t.equal(code, 2)
  t.notMatch(stdout, /height/)
})

t.test('an invalid contract is refused before the check', async (t) => {
  const contract = writeOverlay(t, [{ name: 'id', schema: { type: 'boolean' } }])
  const database = join(t.testdir(), 'missing.db')
  t.strictSame(await runHere(['check', '--database', database, '--contract', contract]), {
    code: 1,
    stdout: '',
    stderr: `plant-store: invalid contract ${contract}: actions/0/update/properties/id: this name is reserved\n`,
  })
})
