import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { members } from '../../../core/members/members.gen.ts'
import { LIST_TEXT_MAX } from '../../../service/store/plant-store.ts'
import { DryRun } from '../../../src/commands/transfer/dry-run.ts'
import { ImportPreview } from '../../../src/commands/transfer/import-findings.ts'
import { openReader } from '../../../src/stores/engines.ts'
import { importsOf } from '../../helpers/plants/imports.ts'

/** Imports into a database with the plants 1, `one`, and 2, `two`. */
async function dryRunsOf(t: Test) {
  const imports = importsOf(t)
  const { database, file, load } = imports
  await load([file('stored.csv', 'id,name\n1,one\n2,two\n')])
  const before = readFileSync(database)
  /** Dry-runs an import of a file with these lines. */
  const dryRun = async (lines: readonly string[], ...options: string[]) => {
    const finished = await load([file('plants.csv', lines.join('\n')), ...options, '--dry-run'])
    t.ok(readFileSync(database).equals(before), 'the database is unchanged')
    const { code, stdout, stderr } = finished
    return { code, lines: stdout.split('\n'), stderr }
  }
  return { ...imports, dryRun }
}

const put = (id: bigint, name: string) => ({ type: 'put', id, name }) as const

const END = 'dry run: nothing was stored'

t.test('an invalid record would stop the import, and the rest is read', async (t) => {
  const { database, dryRun } = await dryRunsOf(t)
  const lines = ['id,name', '1,one', 'x,\x9b', '3,three', '4,"\x9bfour"', 'y,']
  t.strictSame(await dryRun(lines), {
    code: 1,
    lines: [
      'created 2',
      '  first: line 4: {"id":3,"name":"three"}',
      'replayed 1 (already stored with the same content)',
      '  first: line 2: {"id":1,"name":"one"}',
      'replaced 0',
      'kept 0',
      'refused 2',
      '  first: line 3: id must be a whole number, written like 4 or -12, not "x"',
      'an import would stop at line 3; use --on-error skip to import the rest',
      END,
      `database ${database}`,
      '',
    ],
    stderr:
      'line 3: id must be a whole number, written like 4 or -12, not "x"\nline 6: id must be a whole number, written like 4 or -12, not "y"\n',
  })
})

t.test('a conflict would stop the import, also after a skipped record', async (t) => {
  const { dryRun } = await dryRunsOf(t)
  const lines = ['id,name', 'x,', '1,\x9b', '1,\x9b', '3,\x9bc', '2,b']
  t.equal((await dryRun([...lines.slice(0, 2), '9,z'], '--on-error', 'skip')).code, 2)
  const planned = await dryRun(lines, '--on-error', 'skip')
  t.equal(planned.code, 1)
  t.equal(planned.lines[1], '  first: line 5: {"id":3,"name":"\\u009bc"}')
  t.same(planned.lines.slice(5, 9), [
    'refused 4',
    '  first: line 2: id must be a whole number, written like 4 or -12, not "x"',
    'an import would stop at line 3: plant 1 already exists with different content: {"id":1,"name":"\\u009b"}; stored: {"id":1,"name":"one"}; use --on-conflict keep, replace or update to import the rest',
    END,
  ])
  const conflict = 'already exists with different content'
  t.equal(
    planned.stderr,
    `line 2: id must be a whole number, written like 4 or -12, not "x"\nline 3: plant 1 ${conflict}\nline 4: plant 1 ${conflict}\nline 6: plant 2 ${conflict}\n`,
  )
})

t.test('the first plant that would be replaced or kept is shown with the stored one', async (t) => {
  const { dryRun } = await dryRunsOf(t)
  for (const [action, line] of [
    ['replace', 'replaced 2'],
    ['keep', 'kept 2'],
  ] as const) {
    const { code, lines } = await dryRun(
      ['id,name,tag', '2,two,x', '1,b,'],
      '--on-conflict',
      action,
    )
    t.equal(code, 0)
    const first = '  first: line 2: {"id":2,"name":"two","tag":"x"}; stored: {"id":2,"name":"two"}'
    t.equal(lines[lines.indexOf(line) + 1], first)
  }
})

t.test('a record is compared with an earlier one that would be stored', async (t) => {
  const { dryRun } = await dryRunsOf(t)
  const lines = ['id,name', '3,c', '3,d', '3,c']
  const planned = await dryRun(lines, '--on-conflict', 'replace')
  t.equal(
    planned.stderr,
    'line 3: repeats id 3 of line 2 (replaced)\nline 4: repeats id 3 of line 2 (replaced)\n',
  )
  t.ok(planned.lines.includes('  first: line 3: {"id":3,"name":"d"}; stored: {"id":3,"name":"c"}'))
})

t.test('a dry run reads on after a record that cannot be read', async (t) => {
  const { dryRun } = await dryRunsOf(t)
  const { code, lines, stderr } = await dryRun(['id,name', '3,c', 'x,', '4,"d"d', '5,e'])
  t.equal(code, 1)
  t.same([lines[0], lines[5]], ['created 2', 'refused 2'])
  t.match(stderr, /^line 4: a quote within a field in quotes must be doubled$/m)
})

t.test('only a limited number of plants that would change is remembered', async (t) => {
  const { database } = await dryRunsOf(t)
  const reader = await openReader({ database, lockTimeout: 0 })
  t.teardown(() => reader.close())
  const dryRun = new DryRun(reader, members, 1)
  const preview = new ImportPreview(dryRun, { onConflict: 'keep', onError: 'stop' })
  const apply = async (...changes: ReturnType<typeof put>[]) => {
    await dryRun.find(changes.map(({ id }) => id))
    return dryRun.apply(changes)
  }
  t.same(await apply(put(3n, 'c'), put(3n, 'd')), ['created', 'changed'])
  t.equal(preview.describeEnd(), `${END}\n`)
  t.same(await apply(put(4n, 'd')), ['created'])
  t.same(await apply(put(4n, 'd'), put(3n, 'd')), ['created', 'unchanged'])
  t.match(preview.describeEnd(), /^too many plants would change .+\n.+\n$/)
})

t.test('plants that would change are not read together if they are large', async (t) => {
  const { database } = await dryRunsOf(t)
  const reader = await openReader({ database, lockTimeout: 0 })
  t.teardown(() => reader.close())
  const dryRun = new DryRun(reader, members)
  for (const id of [3n, 4n]) {
    await dryRun.find([id])
    await dryRun.apply([put(id, 'x'.repeat(LIST_TEXT_MAX / 2))])
  }
  t.equal(await dryRun.find([3n, 4n]), 'too-large')
  const found = await dryRun.find([3n])
  t.ok(found instanceof Map && found.has(3n))
})
