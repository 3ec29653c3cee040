/** Exports of the plants that options select. */
import t, { type Test } from 'tap'
import { adoptFields } from '../../../src/start/field-adoption.ts'
import { openStore } from '../../../src/stores/engines.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { nursery } from '../../helpers/plants/nursery.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { sqlite } from '../../helpers/service/engine.ts'

const fields = [...nursery, { name: 'a=b', schema: { type: 'integer', format: 'int32' } } as const]

const PLANTS = [
  { id: 1n, name: 'Abies', tag: 'Tree', fields: '"a=b":5,"height":120,"light":"sun"' },
  { id: 2n, name: 'ÉABIES', tag: 'tree', fields: '"height":90,"light":"shade","note":"x=y"' },
  { id: 3n, name: 'Acer', tag: '' },
  { id: 4n, name: 'Abies' },
]

/** Exports from a database with PLANTS. */
async function prepare(t: Test, declared = fields) {
  const { database } = await sqlite(t)
  const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
  await adoptFields(store, declared, { hide: false })
  if (declared.length > 0) await importPlants(store, PLANTS, 'stop')
  await store.close()
  return (...args: string[]) => runHere(['export', ...args, '--database', database])
}

t.test('an export has the plants that meet all conditions', async (t) => {
  const run = await prepare(t)
  for (const [args, ...ids] of [
    [[], 1, 2, 3, 4],
    [['--q', 'aBI'], 1, 2, 4],
    [['--q', 'eabi'], 2],
    [['--tag', 'Tree'], 1],
    [['--tag', ''], 3],
    [['--untagged'], 4],
    [['--untagged', '--q', 'abies'], 4],
    [['--filter', 'min.height=90', '--filter', 'max.height=119'], 2],
    [['--filter', 'is.light=sun', '--filter', 'is.light=shade', '--tag', 'Tree'], 1],
    [['--filter', 'without.height=true'], 3, 4],
    [['--filter', 'is.note=x=y'], 2],
    [['--filter', 'is.a=b=5'], 1],
  ] as const) {
    const { code, stdout, stderr } = await run(...args)
    const found = stdout
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).id)
    t.strictSame([code, found], [0, ids], args.join(' '))
    t.match(stderr, `exported ${ids.length} plants`)
  }
})

t.test('an invalid, unknown or contradictory condition is refused by name', async (t) => {
  const run = await prepare(t)
  for (const [message, ...args] of [
    ['invalid filter: is.height must be an integer', '--filter', 'is.height=x'],
    ['invalid filter: q must not be empty', '--q', ''],
    [
      'invalid filter: q must contain a word, not only spaces, diacritics and invisible characters',
      ...['--q', ' '],
    ],
    ['invalid filter: untagged cannot be combined with tag', '--untagged', '--tag', 'x'],
    [
      'invalid filter: without.height cannot be combined with is.height',
      ...['--filter', 'without.height=true', '--filter', 'is.height=1'],
    ],
    [
      'invalid filter: min.height must be an integer',
      ...['--filter', 'min.height=1', '--filter', 'min.height=2'],
    ],
    ...['is.weight=1', 'tag=Tree', 'is.height', 'after=1', '='].map(
      (filter) =>
        [
          `unknown filter "${filter}": expected one such as is.height=…`,
          '--filter',
          filter,
        ] as const,
    ),
  ] as const) {
    const stderr = `plant-store: ${message}\n`
    t.strictSame(await run(...args), { code: 1, stdout: '', stderr }, args.join(' '))
  }
  const without = await prepare(t, [])
  const stderr = 'plant-store: unknown filter "is.height=1": the plants have no own fields\n'
  t.strictSame(await without('--filter', 'is.height=1'), { code: 1, stdout: '', stderr })
})
