import { type StdioOptions, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'
import { Command } from '../helpers/command.ts'
import { runHere } from '../helpers/command-here.ts'
import { importsOf } from '../helpers/imports.ts'

const SAMPLE = new URL('../../data/sample.csv', import.meta.url).pathname

t.test('a file is imported; importing it again changes nothing', async (t) => {
  const { database, load, stored, summary } = importsOf(t)
  t.strictSame(await load([SAMPLE]), {
    code: 0,
    stdout: summary({ created: 320 }),
    stderr: '',
  })
  const plants = stored()
  t.match(plants[1], { id: 4, name: 'Abies alba Mill.', tag: 'Tree' })
  const again = ['import', SAMPLE, '--database', database]
  t.strictSame(await runHere(again), {
    code: 0,
    stdout: summary({ replayed: 320 }),
    stderr: '',
  })
  t.strictSame(stored(), plants)
})

t.test('an invalid record stops the import unless it is skipped', async (t) => {
  const { file, load, stored, summary } = importsOf(t)
  const bad = file('bad.jsonl', '{"id":1,"name":"a"}\n{"id":2}\n\x1b[2J\n{"id":3,"name":"c"}\n')
  const second = "line 2: must have required property 'name'\n"
  t.strictSame(await load([bad]), {
    code: 1,
    stdout: summary({ created: 1, refused: 1 }),
    stderr: second,
  })
  const skipped = await load([bad, '--on-error', 'skip'])
  t.equal(skipped.code, 2)
  t.equal(skipped.stdout, summary({ created: 1, replayed: 1, refused: 2 }))
  t.ok(skipped.stderr.startsWith(`${second}line 3: record is not valid JSON: `))
  t.notMatch(skipped.stderr, '\x1b', 'escape sequences are not passed on to the terminal')
  t.match(stored(), [{ id: 1 }, { id: 3 }])
})

t.test('a conflict stops the import, keeps the stored plant or replaces it', async (t) => {
  const { database, file, load, stored, summary } = importsOf(t)
  const second = file('second.csv', 'id,name\n7,second\n')
  const db = openDatabase({ file: database, lockTimeout: 0 })
  db.exec("INSERT INTO plants (id, name) VALUES (7, 'first')")
  db.close()
  t.strictSame(await load([second]), {
    code: 1,
    stdout: summary({ refused: 1 }),
    stderr:
      'line 2: plant 7 already exists with different content; use --on-conflict keep or --on-conflict replace to import the rest\n',
  })
  const kept = await load([second, '--on-conflict', 'keep'])
  t.strictSame(kept, { code: 0, stdout: summary({ kept: 1 }), stderr: '' })
  t.match(stored(), [{ name: 'first' }])
  const replaced = await load([second, '--on-conflict', 'replace'])
  t.strictSame(replaced, { code: 0, stdout: summary({ replaced: 1 }), stderr: '' })
  t.match(stored(), [{ name: 'second' }])
})

t.test('a CSV file of a spreadsheet is imported with notes about its rows', async (t) => {
  const { file, load, stored, summary } = importsOf(t)
  const rows = ['\ufeffid;name;tag', '4;Abies;Tree', ';;', '4;Abies;Tree', '5;Acer;', ';;']
  t.strictSame(await load([file('plants.csv', rows.join('\r\n'))]), {
    code: 0,
    stdout: summary({ created: 2, replayed: 1 }, 'blank 2 (rows without any value)\n'),
    stderr: 'line 4: repeats id 4 of line 2 (replayed)\n',
  })
  t.match(stored(), [{ id: 4 }, { id: 5, tag: null }])
  t.strictSame(await load([file('repeated.csv', 'id,name\n6,a\n6,b\n')]), {
    code: 1,
    stdout: summary({ created: 1, refused: 1 }),
    stderr:
      'line 3: repeats id 6 of line 2 with different content; use --on-conflict keep or --on-conflict replace to import the rest\n',
  })
  t.match(await load([file('empty.csv', '')]), {
    code: 1,
    stdout: summary({}),
    stderr: 'plant-store: the file is empty: expected a header such as id,name,tag\n',
  })
})

t.test('a file that cannot be read causes a one-line error and creates no database', async (t) => {
  const { database, folder, load } = importsOf(t)
  const nowhere = join(folder, 'nowhere.csv')
  const cases = [
    { args: [nowhere], says: `cannot read ${nowhere}: no such file or directory` },
    {
      args: ['-'],
      says: /^plant-store: cannot tell the format of -: .*; otherwise use --format ndjson or csv or json\n$/,
    },
  ]
  for (const { args, says } of cases) {
    const { code, stdout, stderr } = await load(args)
    t.match({ code, stdout }, { code: 1, stdout: '' })
    t.match(stderr, says)
    t.notOk(existsSync(database))
  }
})

t.test('a folder and a file without a header cause a one-line error', async (t) => {
  const { folder, file, load, summary } = importsOf(t)
  const cases = [
    { args: [folder, '--format', 'csv'], says: `cannot read ${folder}: illegal operation on a d` },
    {
      args: [file('a.csv', '1,a\n')],
      says: /^plant-store: line 1: the header .*id,name,tag; it has 2 unknown columns, "1", "a"\n$/,
    },
  ]
  for (const { args, says } of cases) {
    const { code, stdout, stderr } = await load(args)
    t.match({ code, stdout }, { code: 1, stdout: summary({}) })
    t.match(stderr, says)
  }
})

t.test('a CSV file with an unknown column is imported only on request', async (t) => {
  const { file, load, stored, summary } = importsOf(t)
  const plants = file('plants.csv', 'id,name,Tag\n4,Abies,Tree\n')
  t.strictSame(await load([plants]), {
    code: 1,
    stdout: summary({}),
    stderr:
      'plant-store: line 1: the header has an unknown column, "Tag" (did you mean "tag"?): expected only id, name, tag; use --ignore-unknown to import the file without unknown columns\n',
  })
  const ignored = await load([plants, '--ignore-unknown'])
  t.strictSame(ignored, { code: 0, stdout: summary({ created: 1 }), stderr: '' })
  t.match(stored(), [{ id: 4, name: 'Abies', tag: null }])
})

t.test('members that are not stored are counted, or errors with --strict', async (t) => {
  const { file, load, summary } = importsOf(t)
  const plants = file(
    'plants.ndjson',
    '{"id":4,"name":"Abies","Tag":"Tree"}\n{"id":5,"name":"b"}\n',
  )
  const strict = await load([plants, '--strict', '--on-error', 'skip'])
  t.strictSame(strict, {
    code: 2,
    stdout: summary({ created: 1, refused: 1 }),
    stderr: 'line 1: unknown property "Tag" (did you mean "tag"?)\n',
  })
  const { code, stdout } = await load([plants])
  t.equal(code, 0)
  const note = 'ignored 1 (properties that are not stored: 1 × "Tag" (did you mean "tag"?))\n'
  t.equal(stdout, summary({ created: 1, replayed: 1 }, note))
})

t.test('a named pipe is imported to its end', async (t) => {
  const { folder, load, stored } = importsOf(t)
  const pipe = join(folder, 'pipe.csv')
  spawnSync('mkfifo', [pipe])
  const [finished] = await Promise.all([load([pipe]), writeFile(pipe, 'id,name\n1,a\n2,b\n')])
  t.match(finished, { code: 0, stderr: '' })
  t.match(stored(), [{ id: 1 }, { id: 2 }])
})

t.test('a JSON array is imported into a database in a new folder', async (t) => {
  const { folder, file } = importsOf(t)
  const plants = file('plants.json', '[{"id":4,"name":"Abies"},{"id":5}]')
  const database = join(folder, 'new', 'plants.db')
  const args = ['import', plants, '--on-error', 'skip', '--create', '--database', database]
  t.match(await runHere(args), {
    code: 2,
    stdout: new RegExp(`^created 1\n[^]*\nrefused 1\ndatabase ${database}\n$`),
    stderr: "item 2: must have required property 'name'\n",
  })
  t.ok(existsSync(database))
})

t.test('an option that does not apply to the format is rejected', async (t) => {
  const { database, file, load } = importsOf(t)
  const csv = file('plants.csv', 'id,name\n1,a\n')
  const ndjson = file('plants.ndjson', '{"id":1,"name":"a"}\n')
  for (const [args, says] of [
    [[csv, '--strict'], /^plant-store: cannot use --strict with CSV, .*; omit it\n$/],
    [[ndjson, '--ignore-unknown'], /^plant-store: cannot use --ignore-unknown .*--strict/],
    [[ndjson, '--format', 'json', '--ignore-unknown'], /^plant-store: cannot use --ignore-unknown/],
  ] as const) {
    t.match(await load(args), { code: 1, stdout: '', stderr: says })
  }
  t.notOk(existsSync(database))
})

t.test('the import continues when the readers of its output exit', async (t) => {
  const { database, file, stored } = importsOf(t)
  const plants = file('bad.csv', `id,name\n${'x,y\n'.repeat(5000)}1,a\n`)
  const args = ['import', plants, '--on-error', 'skip', '--create', '--database', database]
  const command = new Command(t, args)
  command.process.stdout?.destroy()
  command.process.stderr?.destroy()
  t.equal((await command.finished()).code, 2)
  t.match(stored(), [{ id: 1, name: 'a' }])
})

t.test('the import fails if its summary cannot be written', async (t) => {
  const { database } = importsOf(t)
  const full = openSync('/dev/full', 'w')
  const stdio: StdioOptions = ['ignore', full, 'pipe']
  const options = { stdio }
  const command = new Command(t, ['import', SAMPLE, '--create', '--database', database], options)
  closeSync(full)
  const { code, stderr } = await command.finished()
  t.equal(code, 1)
  t.equal(stderr, 'plant-store: cannot write to standard output: no space left on device\n')
})
