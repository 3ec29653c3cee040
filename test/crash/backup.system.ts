/** Kills `plant-store backup --every` while it makes a backup, and restores the newest one. */
import { copyFileSync, existsSync, readdirSync, statSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'
import { createPlant } from '../helpers/client.ts'
import { Command, run } from '../helpers/command.ts'

const TOKEN = 'a-token-for-the-test'
const PUBLISHED = /^plants-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db$/

/** Large enough for SQLite to write parts of a copy before its end: its cache has 16 MB. */
const MEGABYTES = 100

/** Creates plants one at a time. Returns when each was acknowledged, by id, in milliseconds since 1970. */
async function createUntil(stop: AbortSignal, url: string): Promise<Map<number, number>> {
  const acknowledged = new Map<number, number>()
  for (let id = 1; !stop.aborted; id++) {
    const { status } = await createPlant(url, TOKEN, { id, name: `plant ${id}` })
    if (status === 200) acknowledged.set(id, Date.now())
  }
  return acknowledged
}

/** Resolves to a folder with an unfinished copy, after some copies are complete. */
async function unfinished(folder: string, complete: number): Promise<string> {
  const partials = new Set<string>()
  let partial = ''
  for await (const { filename } of watch(folder)) {
    if (!filename?.includes('.partial-')) continue
    partial = join(folder, filename)
    // One copy is made after another.
    if (partials.add(filename).size > complete) break
  }
  const changes = watch(partial)[Symbol.asyncIterator]()
  const copy = join(partial, 'plants.db')
  while (!existsSync(copy) || statSync(copy).size === 0) await changes.next()
  await changes.return?.()
  return partial
}

t.test(
  'after a kill, the newest backup has every plant acknowledged before it began',
  async (t) => {
    const root = t.testdir({ backups: {} })
    const [database, folder] = [join(root, 'plants.db'), join(root, 'backups')]
    const db = openDatabase({ file: database, lockTimeout: 0 })
    const insert = db.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
    for (let id = 1; id <= MEGABYTES; id++) insert.run(-id, 'x'.repeat(1_000_000))
    db.close()
    const env = { PLANT_STORE_TOKEN: TOKEN }
    const serve = (file: string) => new Command(t, ['--port', '0', '--database', file], { env })
    const url = await serve(database).listening()
    const stop = new AbortController()
    const creating = createUntil(stop.signal, url)

    const begun = unfinished(folder, 2)
    const command = new Command(t, ['backup', '--every', '1s', folder, '--database', database])
    const partial = await begun
    command.process.kill('SIGKILL')
    await command.finished()
    stop.abort()
    const acknowledged = await creating
    t.ok(existsSync(partial), 'the killed command was making a backup')

    const published = readdirSync(folder).filter((name) => PUBLISHED.test(name))
    t.ok(published.length >= 2)
    const newest = published.sort().at(-1) as string
    const check = await run(t, ['check', '--database', join(folder, newest)])
    t.equal(check.code, 0, check.stdout)
    t.notMatch(check.stdout, /FAIL/)

    const restored = join(root, 'restored.db')
    copyFileSync(join(folder, newest), restored)
    const beganAt = Date.parse(newest.replace(PUBLISHED, '$1T$2:$3:$4Z'))
    const expected = [...acknowledged].filter(([, time]) => time < beganAt).map(([id]) => id)
    t.ok(expected.length > 0)
    const copy = openDatabase({ file: restored, lockTimeout: 0 })
    const stored = copy.prepare('SELECT id FROM plants WHERE id > 0').pluck().all()
    copy.close()
    t.comment({ acknowledged: acknowledged.size, expected: expected.length, stored: stored.length })
    const missing = expected.filter((id) => !stored.includes(BigInt(id)))
    t.same(missing, [])
    const again = { id: expected.at(-1), name: `plant ${expected.at(-1)}` }
    const service = await serve(restored).listening()
    t.equal((await createPlant(service, TOKEN, { ...again, name: 'other' })).status, 409)
    t.equal((await createPlant(service, TOKEN, again)).status, 200)

    const next = new Command(t, ['backup', '--every', '1h', folder, '--database', database])
    await next.says(/begins at/)
    t.notOk(existsSync(partial), 'the next command removes what the killed one has left')
    t.same(
      readdirSync(folder)
        .filter((name) => PUBLISHED.test(name))
        .sort(),
      published.sort(),
    )
    next.process.kill('SIGTERM')
    t.equal((await next.finished()).code, 0)
  },
)
