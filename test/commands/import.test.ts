import type { StdioOptions } from 'node:child_process'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/stores/sqlite/database.ts'
import { TRANSACTION_RECORDS } from '../../src/transfer/import.ts'
import { Command, type CommandOptions } from '../helpers/command.ts'
import { runHere } from '../helpers/command-here.ts'

const SAMPLE = new URL('../../data/sample.csv', import.meta.url).pathname

/** Runs `plant-store import …` on a new database. */
function importsOf(t: Test) {
  const folder = t.testdir()
  const database = join(folder, 'plants.db')
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const load = (args: readonly string[]) => runHere(['import', ...args, '--database', database])
  /** Starts an import from standard input. */
  const feed = (options?: CommandOptions) => {
    const args = ['import', '-', '--format', 'ndjson', '--database', database]
    return new Command(t, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  }
  const stored = () => {
    const db = new Sqlite(database)
    const plants = db.prepare('SELECT * FROM plants ORDER BY id').all()
    const isIntact = db.pragma('integrity_check', { simple: true }) === 'ok'
    db.close()
    return isIntact ? plants : 'damaged'
  }
  return { folder, database, file, load, feed, stored }
}

function summary(counts: { [what: string]: number }): string {
  const all = { created: 0, replayed: 0, replaced: 0, kept: 0, refused: 0, ...counts }
  return Object.entries(all)
    .map(([what, count]) => {
      const isExplained = what === 'replayed' && count > 0
      return `${what} ${count}${isExplained ? ' (already stored with the same content)' : ''}\n`
    })
    .join('')
}

t.test('a file is imported; importing it again changes nothing', async (t) => {
  const { load, stored } = importsOf(t)
  t.strictSame(await load([SAMPLE]), {
    code: 0,
    stdout: summary({ created: 320 }),
    stderr: '',
  })
  const plants = stored()
  t.match(plants[1], { id: 4, name: 'Abies alba Mill.', tag: 'Tree' })
  t.strictSame(await load([SAMPLE]), {
    code: 0,
    stdout: summary({ replayed: 320 }),
    stderr: '',
  })
  t.strictSame(stored(), plants)
})

t.test('an invalid record stops the import unless it is skipped', async (t) => {
  const { file, load, stored } = importsOf(t)
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
  const { database, file, load, stored } = importsOf(t)
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
  const { folder, file, load } = importsOf(t)
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
  const { file, load, stored } = importsOf(t)
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
  const { file, load } = importsOf(t)
  const plants = file(
    'plants.ndjson',
    '{"id":4,"name":"Abies","Tag":"Tree"}\n{"id":5,"name":"b"}\n',
  )
  const strict = await load([plants, '--strict', '--on-error', 'skip'])
  t.strictSame(strict, {
    code: 2,
    stdout: summary({ created: 1, refused: 1 }),
    stderr: 'line 1: unknown member "Tag" (did you mean "tag"?)\n',
  })
  const { code, stdout } = await load([plants])
  t.equal(code, 0)
  const note = 'ignored 1 (members that are not stored: 1 × "Tag" (did you mean "tag"?))\n'
  t.equal(stdout, summary({ created: 1, replayed: 1 }) + note)
})

t.test('a JSON array is imported into a database in a new folder', async (t) => {
  const { folder, file } = importsOf(t)
  const plants = file('plants.json', '[{"id":4,"name":"Abies"},{"id":5}]')
  const database = join(folder, 'new', 'plants.db')
  const args = ['import', plants, '--on-error', 'skip', '--database', database]
  t.strictSame(await runHere(args), {
    code: 2,
    stdout: summary({ created: 1, refused: 1 }),
    stderr: "item 2: must have required property 'name'\n",
  })
  t.ok(existsSync(database))
})

t.test('the items before the end of a broken JSON array are imported and counted', async (t) => {
  const { file, load, stored } = importsOf(t)
  const one = '{"id":1,"name":"a"}'
  const two = '{"id":2,"name":"b"}'
  const cutOff = await load([file('cut.json', `[${one},${two},{"id":3,`)])
  t.strictSame(cutOff, {
    code: 1,
    stdout: summary({ created: 2 }),
    stderr: 'plant-store: the JSON array is not closed after item 2\n',
  })
  t.match(stored(), [{ id: 1 }, { id: 2 }])
  const followed = await load([file('followed.json', `[${one},${two}] x`)])
  t.match(followed, { code: 1, stdout: summary({ replayed: 2 }), stderr: /followed by anything/ })
  const invalid = await load([file('invalid.json', `[${one},{"id":2},{"id":3,`)])
  t.strictSame(invalid, {
    code: 1,
    stdout: summary({ replayed: 1, refused: 1 }),
    stderr: "item 2: must have required property 'name'\n",
  })
})

t.test('an array in a file of lines is reported with the format to use', async (t) => {
  const { file, load } = importsOf(t)
  const hint = '; use --format json if the file is a JSON array\n'
  for (const [content, reason] of [
    ['\n [{"id":1,"name":"a"}]', 'line 2: must be object'],
    ['[\n{"id":1,"name":"a"}\n]', 'line 1: record is not valid JSON: .*'],
    [`[${' '.repeat(2 ** 22)}]`, 'line 1: record must not exceed 4194304 bytes'],
  ]) {
    const { code, stderr } = await load([file('plants.ndjson', `${content}`)])
    t.equal(code, 1)
    t.match(stderr, new RegExp(`^${reason}${hint}$`))
  }
  const later = await load([file('later.ndjson', '{"id":1,"name":"a"}\n[]\n')])
  t.equal(later.stderr, 'line 2: must be object\n')
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

/** Progress is reported every five seconds, which an import takes only on a slow machine. */
const ONLY_PROGRESS = /^(import: [\d,]+ bytes\n)*$/

t.test('an interrupted import of a JSON array does not report that it is incomplete', async (t) => {
  const { database } = importsOf(t)
  const args = ['import', '-', '--format', 'json', '--database', database]
  const command = new Command(t, args, { measured: true, stdio: ['pipe', 'pipe', 'pipe'] })
  command.process.stdin?.write('[')
  await storeTransaction(
    command,
    database,
    lines.map((line) => `${line},`),
  )
  command.process.kill('SIGINT')
  const { code, stderr } = await command.finished()
  t.equal(code, 130)
  t.match(stderr, ONLY_PROGRESS)
})

t.test('the import continues when the readers of its output exit', async (t) => {
  const { database, file, stored } = importsOf(t)
  const plants = file('bad.csv', `id,name\n${'x,y\n'.repeat(5000)}1,a\n`)
  const args = ['import', plants, '--on-error', 'skip', '--database', database]
  const command = new Command(t, args, { measured: true })
  command.process.stdout?.destroy()
  command.process.stderr?.destroy()
  t.equal((await command.finished()).code, 2)
  t.match(stored(), [{ id: 1, name: 'a' }])
})

t.test('the import fails if its summary cannot be written', async (t) => {
  const { database } = importsOf(t)
  const full = openSync('/dev/full', 'w')
  const stdio: StdioOptions = ['ignore', full, 'pipe']
  const options = { stdio, measured: true }
  const command = new Command(t, ['import', SAMPLE, '--database', database], options)
  closeSync(full)
  const { code, stderr } = await command.finished()
  t.equal(code, 1)
  t.equal(stderr, 'plant-store: cannot write to standard output: no space left on device\n')
})

const lines = Array.from(
  { length: TRANSACTION_RECORDS + 500 },
  (_, id) => `{"id":${id},"name":"plant ${id}"}\n`,
)
const expected = lines.map((_, id) => ({ id, name: `plant ${id}`, tag: null }))

/** Feeds the import more than a transaction, and resolves once the transaction is stored. */
async function storeTransaction(
  command: Command,
  database: string,
  records = lines,
): Promise<void> {
  command.process.stdin?.write(records.slice(0, TRANSACTION_RECORDS + 100).join(''))
  await until(() => existsSync(`${database}-wal`))
  const db = new Sqlite(database)
  const tables = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'plants'").pluck()
  await until(() => tables.get() === 1)
  const plants = db.prepare('SELECT count(*) FROM plants').pluck()
  await until(() => Number(plants.get()) >= TRANSACTION_RECORDS)
  db.close()
}

/** Polls rarely, because the other process needs the processor more. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(5)
}

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  t.test(`an import interrupted by ${signal} can be repeated, with the same result`, async (t) => {
    const { database, file, load, feed, stored } = importsOf(t)
    const command = feed({ measured: signal === 'SIGINT' })
    await storeTransaction(command, database)
    command.process.kill(signal)
    const { code, stdout, stderr } = await command.finished()
    const before = stored().length
    if (signal === 'SIGKILL') {
      t.ok(before >= TRANSACTION_RECORDS)
    } else {
      t.equal(code, 130)
      t.equal(stdout, summary({ created: before }))
      t.match(stderr, ONLY_PROGRESS)
    }
    const again = await load([file('all.ndjson', lines.join(''))])
    t.equal(again.code, 0)
    t.equal(again.stdout, summary({ created: lines.length - before, replayed: before }))
    t.strictSame(stored(), expected)
  })
}
