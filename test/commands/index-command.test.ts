import t from 'tap'
import type { Member } from '../../core/members/members.ts'
import { declareIndexes } from '../../service/sorting.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { each } from '../helpers/plants/lists.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { postgres, sqlite } from '../helpers/service/engine.ts'
import { useStore } from './use-store.ts'

const NAME: Member = { name: 'name', type: 'string', isRequired: true }
const TAG: Member = { name: 'tag', type: 'string', isRequired: false }
const HEIGHT: Member = {
  name: 'height',
  type: 'int32',
  isRequired: false,
  schema: { type: 'integer', format: 'int32' },
}

const PLANTS = Array.from({ length: 1500 }, (_, at) => ({ id: BigInt(at), name: `plant ${at}` }))

for (const [engine, place] of Object.entries({ sqlite, postgres: await postgres() })) {
  t.test(`indexes are listed and removed (${engine})`, async (t) => {
    const { database, query } = await place(t)
    const use = (work: (store: Store) => Promise<void>) => useStore(database, work)
    const index = (...args: string[]) => runHere(['index', ...args, '--database', database])
    await use(async (store) => {
      for (const half of [PLANTS.slice(0, 750), PLANTS.slice(750)])
        await store.apply(each('put', half), 'each')
      await declareIndexes(store, [NAME])
      while (await store.indexPlants());
      await declareIndexes(store, [TAG, HEIGHT])
      await store.indexPlants()
    })
    t.strictSame((await index('list')).stdout.trim().split(/ *\n/), [
      'NAME    STATE',
      'height  being built, up to the id 999',
      'name    complete',
      'tag     not begun',
    ])

    const restart = 'a service that still sorts by it needs a restart, which builds it again'
    for (const name of ['name', 'height', 'tag']) {
      t.match(await index('remove', name), {
        code: 0,
        stdout: new RegExp(`^removed ${name} in .*; ${restart}\n$`),
      })
    }
    t.strictSame((await index('list')).stdout.trim().split(/ +/), ['NAME', 'STATE'])
    t.strictSame(await query('SELECT number FROM plant_sort_keys LIMIT 1'), [])
    const stderr = 'plant-store: index name does not exist\n'
    t.match(await index('remove', 'name'), { code: 1, stdout: '', stderr })
  })
}
