import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openAsBlob, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { open, readFile, watch } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { members } from '../../../core/members/members.gen.ts'
import { describePlants } from '../../../core/members/plant.ts'
import type { NewPlant } from '../../../service/store/plant-store.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { readFields } from '../../core/files/xlsx/workbooks.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { Command, type CommandOptions, MAIN, withoutTap } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'

const plants = [
  { id: 2n, name: 'Abronia bolackii N.D. Atwood, S.L. Welsh & K.D. Heil', tag: '' },
  { id: -(2n ** 63n), name: 'a "quote"\r\nand\u2028lines' },
  { id: 2n ** 63n - 1n, name: '', tag: 'Forb/herb' },
]

const { toFields } = describePlants(members)

const ndjson = `{"id":-9223372036854775808,"name":"a \\"quote\\"\\r\\nand\u2028lines"}
{"id":2,"name":"Abronia bolackii N.D. Atwood, S.L. Welsh & K.D. Heil","tag":""}
{"id":9223372036854775807,"name":"","tag":"Forb/herb"}
`

const csv = `id,name,tag
"-9223372036854775808","a ""quote""\r\nand\u2028lines",
2,"Abronia bolackii N.D. Atwood, S.L. Welsh & K.D. Heil",""
9223372036854775807,"",Forb/herb
`

/** More than the buffer of a pipe. */
const many = Array.from({ length: 5000 }, (_, id) => ({ id: BigInt(id), name: 'x'.repeat(50) }))

/** Creates a database and runs `plant-store export …` on it. */
async function exportsOf(t: Test, plants: readonly NewPlant[]) {
  const folder = t.testdir()
  const database = join(folder, 'plants.db')
  const store = new SqliteStore({ file: database, lockTimeout: 0 })
  await importPlants(store, plants, 'stop')
  await store.close()
  const args = (...args: string[]) => ['export', ...args, '--database', database]
  const write = (...using: string[]) => runHere(args(...using))
  const summary = (target: string, count = plants.length) =>
    `exported ${count.toLocaleString('en')} plants from ${database} to ${target}\n`
  const start = (options?: CommandOptions) => new Command(t, args(), options)
  const files = () => readdirSync(folder).filter((name) => !name.startsWith('plants.db'))
  return { folder, database, args, write, summary, start, files }
}

t.test('all plants are exported, sorted by id, to standard output or a file', async (t) => {
  const { folder, write, summary, files } = await exportsOf(t, plants)
  const stderr = summary('standard output')
  t.strictSame(await write(), { code: 0, stdout: ndjson, stderr })
  t.strictSame(await write('-', '--format', 'csv'), { code: 0, stdout: csv, stderr })
  const target = join(folder, 'target.csv')
  writeFileSync(target, 'old')
  symlinkSync(target, join(folder, 'link.csv'))
  const link = join(folder, 'link.csv')
  t.strictSame(await write(link), { code: 0, stdout: '', stderr: summary(link) })
  t.equal(readFileSync(target, 'utf8'), csv)
  t.strictSame(files(), ['link.csv', 'target.csv'])
})

t.test('plants are exported to a workbook', async (t) => {
  const { folder, write, summary, files } = await exportsOf(t, plants)
  const file = join(folder, 'plants.xlsx')
  t.strictSame(await write(file), { code: 0, stdout: '', stderr: summary(file) })
  const rows = await readFields(await openAsBlob(file), 3)
  t.strictSame(rows, [['id', 'name', 'tag'], ...plants.map(toFields).sort()])
  t.match(await write(file, '--escape-formulas'), {
    code: 1,
    stderr: 'plant-store: --escape-formulas requires CSV, not xlsx\n',
  })
  t.strictSame(files(), ['plants.xlsx'])
})

t.test('plants that have no room in a workbook leave no file', async (t) => {
  const { folder, write, files } = await exportsOf(t, [{ id: 5n, name: 'x'.repeat(32_768) }])
  const stderr =
    'plant-store: the name of plant 5 is longer than the 32,767 characters of a cell; export the plants as CSV or NDJSON\n'
  const finished = await write(join(folder, 'plants.xlsx'))
  t.strictSame(finished, { code: 1, stdout: '', stderr })
  t.strictSame(files(), [])
})

t.test('--escape-formulas is rejected for NDJSON', async (t) => {
  const { folder, write, files } = await exportsOf(t, plants)
  const stderr = 'plant-store: --escape-formulas requires CSV, not ndjson\n'
  for (const args of [[], [join(folder, 'plants.ndjson')], ['x.csv', '--format', 'ndjson']]) {
    const finished = await write(...args, '--escape-formulas')
    t.strictSame(finished, { code: 1, stdout: '', stderr })
  }
  t.strictSame(files(), [])
})

t.test('a named pipe is written to, not replaced', async (t) => {
  const { folder, write, summary } = await exportsOf(t, plants)
  const pipe = join(folder, 'pipe.csv')
  spawnSync('mkfifo', [pipe])
  const [text, finished] = await Promise.all([readFile(pipe, 'utf8'), write(pipe)])
  t.strictSame(finished, { code: 0, stdout: '', stderr: summary(pipe) })
  t.equal(text, csv)
})

t.test('an export to a named pipe fails if the reader leaves', async (t) => {
  const { folder, write } = await exportsOf(t, many)
  const pipe = join(folder, 'pipe.csv')
  spawnSync('mkfifo', [pipe])
  const finished = write(pipe)
  const reader = await open(pipe)
  await reader.read()
  await reader.close()
  const stderr = `plant-store: cannot write ${pipe}: broken pipe\n`
  t.strictSame(await finished, { code: 1, stdout: '', stderr })
})

t.test('a target that cannot be written causes a one-line error and leaves no files', async (t) => {
  const { folder, database, write, files } = await exportsOf(t, plants)
  const link = join(folder, 'link.csv')
  symlinkSync(database, link)
  const nowhere = join(folder, 'nowhere', 'x.csv')
  const cases = [
    { args: [link], says: `cannot write ${link}: the database uses that file` },
    { args: [folder, '--format', 'csv'], says: `cannot write ${folder}: it is a folder` },
    { args: [nowhere], says: `cannot write ${nowhere}: no such file or directory` },
  ]
  for (const { args, says } of cases) {
    const stderr = `plant-store: ${says}\n`
    t.strictSame(await write(...args), { code: 1, stdout: '', stderr })
  }
  t.strictSame(files(), ['link.csv'])
})

t.test('no file of the database is replaced, nor one that it creates later', async (t) => {
  const { folder, database, args, files } = await exportsOf(t, plants)
  const store = new SqliteStore({ file: database, lockTimeout: 0 })
  t.teardown(() => store.close())
  await createIn(store, { id: 5n, name: 'Acer' })
  const alias = join(folder, 'alias.db')
  symlinkSync(database, alias)
  const own = ['-wal', '-shm', '-journal'].map((suffix) => database + suffix)
  for (const [location, targets] of [
    [database, [...own, `${database}.access-token`]],
    [alias, [...own, `${alias}.access-token`, join(folder, 'access-token')]],
  ] as const) {
    for (const target of [database, ...targets, `${folder}/./plants.db-wal`]) {
      const stderr = `plant-store: cannot write ${target}: the database uses that file\n`
      for (const options of [[target], [join(folder, 'x.ndjson'), '--cursor', target]]) {
        const [, ...rest] = args(...options, '--format', 'ndjson').slice(0, -1)
        const finished = await runHere(['export', ...rest, location])
        t.strictSame(finished, { code: 1, stdout: '', stderr }, options.join(' '))
      }
    }
  }
  t.strictSame(files(), ['alias.db'])
  t.same(await store.get(5n), { id: 5n, name: 'Acer' })
})

t.test('a failed export keeps the existing file', async (t) => {
  const { folder, args, files } = await exportsOf(t, many)
  const target = join(folder, 'target.csv')
  writeFileSync(target, 'old')
  // Node ignores SIGXFSZ, but not with the hooks that tap installs in each process.
  const limited = ['/bin/sh', '-c', 'ulimit -f 128; exec "$0" "$@"', process.execPath, MAIN]
  const { status, stderr } = spawnSync(...withoutTap([...limited, ...args(target)]), {
    encoding: 'utf8',
    // The file with the coverage would be too large.
    env: { ...process.env, NODE_V8_COVERAGE: '' },
  })
  t.equal(stderr, `plant-store: cannot write ${target}: file too large\n`)
  t.equal(status, 1)
  t.equal(readFileSync(target, 'utf8'), 'old')
  t.strictSame(files(), ['target.csv'])
})

/** Resolves once an export to the folder has started. */
async function writing(folder: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename?.includes('.partial-')) return
}

t.test('an interrupted export leaves no file', async (t) => {
  const large = many.map(({ id }) => ({ id, name: 'x'.repeat(5000) }))
  const { folder, args, files } = await exportsOf(t, large)
  const begun = writing(folder)
  const command = new Command(t, args(join(folder, 'target.csv')))
  await begun
  t.match(files(), [/^target\.csv\.partial-/])
  command.process.kill('SIGINT')
  t.strictSame(await command.finished(), { code: 130, stdout: '', stderr: '' })
  t.strictSame(files(), [])
})

t.test('an export that waits for its reader can be interrupted', async (t) => {
  const { args } = await exportsOf(t, many)
  const command = new Command(t, args())
  const stdout = command.process.stdout as Readable
  await once(stdout, 'data')
  stdout.pause()
  command.process.kill('SIGINT')
  await once(command.process, 'exit')
  t.equal(command.process.signalCode, 'SIGINT')
  stdout.resume()
})

t.test('--cursor writes the cursor of the export', async (t) => {
  const { folder, database, write, summary, files } = await exportsOf(t, plants)
  const [file, cursor] = [join(folder, 'plants.ndjson'), join(folder, 'plants.cursor')]
  writeFileSync(cursor, 'old')
  const stderr = summary(file)
  t.strictSame(await write(file, '--cursor', cursor), { code: 0, stdout: '', stderr })
  t.equal(readFileSync(file, 'utf8'), ndjson)
  const store = new SqliteStore({ file: database, lockTimeout: 0 })
  t.teardown(() => store.close())
  await createIn(store, { id: 5n, name: 'Acer' })
  const after = readFileSync(cursor, 'utf8').trim()
  t.match(await store.readChanges({ after, limit: 10 }), { changes: [{ id: 5n }] })
  t.match(await write('--cursor', cursor), { code: 0, stdout: /"id":5/ })
  const later = readFileSync(cursor, 'utf8').trim()
  t.match(await store.readChanges({ after: later, limit: 10 }), { changes: [] })
  t.strictSame(files(), ['plants.cursor', 'plants.ndjson'])
})

t.test('--cursor requires a file of its own', async (t) => {
  const { folder, write, files } = await exportsOf(t, plants)
  const file = join(folder, 'plants.csv')
  const stderr = 'plant-store: --cursor requires a file other than the one for the plants\n'
  const link = join(folder, 'link')
  const paths = [file, relative('.', file), `${folder}/./plants.csv`, join(link, 'plants.csv'), '-']
  symlinkSync(folder, link)
  for (const existing of [false, true]) {
    if (existing) {
      writeFileSync(file, 'old')
      symlinkSync(file, join(folder, 'link.csv'))
      paths.push(join(folder, 'link.csv'))
    }
    for (const cursor of paths) {
      const refused = await write(file, '--cursor', cursor)
      t.strictSame(refused, { code: 1, stdout: '', stderr }, cursor)
    }
  }
  t.equal(readFileSync(file, 'utf8'), 'old')
  t.strictSame(files(), ['link', 'link.csv', 'plants.csv'], 'nothing is exported')
  const nowhere = join(folder, 'missing', 'cursor')
  for (const cursor of [folder, nowhere]) {
    const refused = { code: 1, stderr: `plant-store: cannot write ${cursor}` }
    t.match(await write(file, '--cursor', cursor), refused)
  }
  t.equal(readFileSync(file, 'utf8'), 'old')
})

t.test(
  'an export that fails replaces no cursor',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { folder, write } = await exportsOf(t, plants)
    const cursor = join(folder, 'cursor')
    writeFileSync(cursor, 'old')
    t.match(await write('/dev/full', '--format', 'csv', '--cursor', cursor), { code: 1 })
    t.equal(readFileSync(cursor, 'utf8'), 'old')
    const file = join(folder, 'plants.csv')
    t.match(await write(file, '--cursor', '/dev/full'), {
      code: 1,
      stderr: 'plant-store: cannot write /dev/full: no space left on device\n',
    })
  },
)
