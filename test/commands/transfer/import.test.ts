import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import t from 'tap'
import { addReadOptions } from '../../../src/commands/transfer/read-options.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { importsOf } from '../../helpers/plants/imports.ts'
import { runHere } from '../../helpers/processes/command-here.ts'

const SAMPLE = new URL('../../../data/sample.csv', import.meta.url).pathname

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

const FILES = {
  'bad.jsonl': '{"id":1,"name":"a"}\n{"id":2}\n\x1b[2J\n{"id":3,"name":"c"}\n',
  'second.csv': 'id,name\n7,second\n',
  'sheet.csv': '\ufeffid;name;tag\r\n4;Abies;Tree\r\n;;\r\n4;Abies;Tree\r\n5;Acer;\r\n;;',
  'repeated.csv': 'id,name\n6,a\n6,b\n',
  'empty.csv': '',
  'column.csv': 'id,name,tagg\n4,Abies,Tree\n',
  'member.ndjson': '{"id":4,"name":"Abies","tagg":"Tree"}\n{"id":5,"name":"b"}\n',
}

const INVALID = 'line 2: name is missing\n'
const NOT_JSON = `line 3: record is not valid JSON: Unexpected token '\\u001b', "\\u001b[2J" is not valid JSON\n`
const IMPORT_REST =
  'with different content; use --on-conflict keep, replace or update to import the rest\n'
const EMPTY = 'plant-store: this file is empty\n'
const COLUMN =
  'plant-store: the file has an unknown column, "tagg" (did you mean "tag"?): expected only id, name and tag; use --ignore-unknown to import the file without unknown columns\n'
const MEMBER = 'line 1: unknown property "tagg" (did you mean "tag"?)\n'
const BLANK = 'blank 2 (rows without any value)\n'
const IGNORED = 'ignored 1 (properties that are not stored: 1 × "tagg" (did you mean "tag"?))\n'

/** Imports into a database with the plant 7, `first`, with the exit code, the counts, the errors and the note. */
const CASES: readonly [
  file: keyof typeof FILES,
  options: string,
  code: number,
  counts: Readonly<Record<string, number>>,
  stderr?: string,
  note?: string,
][] = [
  ['bad.jsonl', '', 1, { created: 1, refused: 1 }, INVALID],
  ['bad.jsonl', '--on-error skip', 2, { created: 2, refused: 2 }, INVALID + NOT_JSON],
  ['second.csv', '', 1, { refused: 1 }, `line 2: plant 7 already exists ${IMPORT_REST}`],
  ['second.csv', '--on-conflict keep', 0, { kept: 1 }],
  ['second.csv', '--on-conflict replace', 0, { replaced: 1 }],
  [
    'repeated.csv',
    '',
    1,
    { created: 1, refused: 1 },
    `line 3: repeats id 6 of line 2 ${IMPORT_REST}`,
  ],
  [
    'sheet.csv',
    '',
    0,
    { created: 2, replayed: 1 },
    'line 4: repeats id 4 of line 2 (replayed)\n',
    BLANK,
  ],
  ['empty.csv', '', 1, {}, EMPTY],
  ['column.csv', '', 1, {}, COLUMN],
  ['column.csv', '--ignore-unknown', 0, { created: 1 }],
  ['member.ndjson', '--strict --on-error skip', 2, { created: 1, refused: 1 }, MEMBER],
  ['member.ndjson', '', 0, { created: 2 }, '', IGNORED],
]

t.test('the summary and errors say what an import did', async (t) => {
  const { database, file, load, summary } = importsOf(t)
  const db = openDatabase({ file: database, lockTimeout: 0 })
  t.teardown(() => db.close())
  for (const [name, options, code, counts, stderr = '', note] of CASES) {
    db.exec("DELETE FROM plants; INSERT INTO plants (id, name) VALUES (7, 'first')")
    const args = [file(name, FILES[name]), ...options.split(' ').filter(Boolean)]
    const expected = { code, stdout: summary(counts, note), stderr }
    t.strictSame(await load(args), expected, `${name} ${options}`)
  }
})

t.test('a file that cannot be read causes a one-line error and creates no database', async (t) => {
  const { database, folder, load } = importsOf(t)
  const nowhere = join(folder, 'nowhere.csv')
  const says = `plant-store: cannot read ${nowhere}: no such file or directory\n`
  t.match(await load([nowhere]), { code: 1, stdout: '', stderr: says })
  t.notOk(existsSync(database))
  const read = await load([folder, '--format', 'csv'])
  t.match(read, { code: 1, stderr: `cannot read ${folder}: illegal operation on a directory` })
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
    stderr: 'item 2: name is missing\n',
  })
  t.ok(existsSync(database))
})

t.test('options say how a file is written', async (t) => {
  const { file, load, stored } = importsOf(t)
  const odd = file('odd.txt', "Our plants\nNr~Name\n1~'Abies~alba'\n2~Ã—\n")
  const options = ['--separator', '~', '--quote', 'single', '--header', '2']
  t.match(await load([odd, ...options]), {
    code: 0,
    stdout: /^read as csv: separator "~", quote ', header 2, id from "Nr", name from "Name"\n/,
    stderr: /^Line 4: the name Ã— is garbled: Ã— was × until a program read the file in the wrong /,
  })
  t.match(stored(), [
    { id: 1, name: 'Abies~alba' },
    { id: 2, name: 'Ã—' },
  ])
  for (const [option, value, says] of [
    ['--separator', 'ab', 'Expected comma, semicolon, tab, none, or one character other than'],
    ['--quote', 'x', 'Expected double, single or none.'],
    ['--header', '31', 'Expected a line from 1 to 30, or none.'],
  ] as const) {
    const command = addReadOptions(new Command())
      .exitOverride()
      .configureOutput({ writeErr() {} })
    t.throws(() => command.parse([option, value], { from: 'user' }), { message: says })
  }
  const names = [
    '--separator',
    'none',
    '--header',
    'none',
    '--new-ids',
    '--column',
    'name=Column 1',
  ]
  t.match(await load([odd, ...names]), { code: 0, stdout: /^created 4$/m })
})
