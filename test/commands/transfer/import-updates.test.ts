/** The options of `import` that update plants and find or choose ids. */
import t from 'tap'
import { importCommand } from '../../../src/commands/transfer/transfer-commands.ts'
import { importsOf } from '../../helpers/plants/imports.ts'

const STORED = '{"id":1,"name":"Abies","tag":"Tree"}\n{"id":2,"name":"Pinus","tag":"x"}\n'
const GIVEN = '{"id":1,"name":"Pinus","tag":"y"}\n{"id":2,"name":"Acer"}\n'

t.test('an update has a summary of its own, and a preview', async (t) => {
  const { database, file, load, stored } = importsOf(t)
  await load([file('stored.ndjson', STORED)])
  const plants = file('plants.csv', 'id,name,tag\n1,Abies,\n2,Pinus,x\n3,Acer,\n')
  const run = (...args: string[]) => load([plants, '--on-conflict', 'update', ...args])
  const planned = await run('--dry-run')
  t.strictSame(planned.stdout.split('\n'), [
    'created 1',
    '  first: line 4: {"id":3,"name":"Acer"}',
    'replayed 1 (already stored with the same content)',
    '  first: line 3: {"id":2,"name":"Pinus","tag":"x"}',
    'updated 1',
    '  first: line 2: {"id":1,"name":"Abies"}; stored: {"id":1,"name":"Abies","tag":"Tree"}',
    'refused 0',
    'removed 1 (values of empty cells, or null)',
    'dry run: nothing was stored',
    `database ${database}`,
    '',
  ])
  t.match(await run(), { code: 0, stdout: /^created 1\n.+\nupdated 1\nrefused 0\nremoved 1 / })
  t.match(await run(), { code: 0, stdout: /^created 0\nreplayed 3 .+\nupdated 0\nrefused 0\nda/ })
  t.equal(stored().length, 3)
})

t.test('records are matched by name, whatever their ids', async (t) => {
  const { file, load, stored } = importsOf(t)
  await load([file('stored.ndjson', STORED)])
  const given = file('plants.ndjson', GIVEN)
  const run = (...args: string[]) =>
    load([given, '--match', 'name', '--on-conflict', 'update', ...args])
  for (const args of [['--dry-run'], []]) {
    t.match(await run(...args), { code: 0, stdout: /^created 1\n.*updated 1\n/s })
  }
  t.match(await run(), { code: 0, stdout: /^created 0\nreplayed 2 / })
  t.match(stored(), [
    { id: 1, name: 'Abies', tag: 'Tree' },
    { id: 2, name: 'Pinus', tag: 'y' },
    { id: 3, name: 'Acer', tag: null },
  ])
  const conflict = await load([given, '--match', 'name', '--on-error', 'skip'])
  t.match(conflict, { code: 0, stdout: /replayed 2/ })
})

t.test('each import with new ids adds the plants', async (t) => {
  const { file, load, stored } = importsOf(t)
  const given = file('plants.ndjson', GIVEN)
  for (let times = 1; times <= 2; times++) {
    t.match(await load([given, '--new-ids']), { code: 0, stdout: /^created 2\n/ })
  }
  t.match(
    stored(),
    ['Pinus', 'Acer', 'Pinus', 'Acer'].map((name, index) => ({ id: index + 1, name })),
  )
})

t.test('options that do not fit are refused', async (t) => {
  const { file, load } = importsOf(t)
  const given = file('plants.ndjson', GIVEN)
  for (const [says, ...args] of [
    [/cannot match by "tag": expected name\n/, '--match', 'tag'],
    [/cannot match by "id": expected name\n/, '--match', 'id'],
  ] as const) {
    t.match(await load([given, ...args]), { code: 1, stderr: says })
  }
  for (const other of [
    ['--match', 'name'],
    ['--on-conflict', 'keep'],
  ]) {
    const command = importCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
    await t.rejects(command.parseAsync([given, '--new-ids', ...other], { from: 'user' }), {
      code: 'commander.conflictingOption',
    })
  }
})
