import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { restrict } from '../../service/restriction.ts'
import { openStore } from '../../src/stores/engines.ts'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { freezeClock } from '../helpers/processes/frozen-clock.ts'
import { BEGUN, CONSISTENT, COPIED, makeMirror } from '../helpers/service/mirrors.ts'
import { startService } from '../helpers/service/service.ts'

const CREATE = { body: { id: 1n, name: 'Abies alba Mill.' } }

/** A database, and commands on it. */
async function commandsOf(t: Test, database = join(makeFolder(t, inMemory()), 'plants.db')) {
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  const run = (...args: string[]) => runHere([...args, '--database', database])
  return { database, store, run }
}

t.test('a running service follows promote, freeze and unfreeze within a second', async (t) => {
  const service = await startService(t, { inFile: true })
  const pass = freezeClock(t)
  const { database, store, run } = await commandsOf(t, service.database)
  /** The status of a create a second later. */
  const create = async () => {
    pass(999)
    return (await service.call(CREATE)).status
  }
  await makeMirror(store)
  t.equal(await create(), 403)
  t.match(await run('promote'), { code: 0 })
  t.equal(await create(), 200)
  const refused = `changes to ${database} are refused until plant-store unfreeze\n`
  const accepted = `changes to ${database} are accepted\n`
  t.same(await run('freeze'), { code: 0, stdout: `frozen: ${refused}`, stderr: '' })
  t.equal(await create(), 503)
  t.equal((await service.call({ method: 'GET', path: '/plants/1' })).status, 200, 'reads continue')
  t.same(await run('freeze'), { code: 0, stdout: `already frozen: ${refused}`, stderr: '' })
  t.same(await run('unfreeze'), { code: 0, stdout: `unfrozen: ${accepted}`, stderr: '' })
  t.equal(await create(), 200)
  t.same(await run('unfreeze'), { code: 0, stdout: `not frozen: ${accepted}`, stderr: '' })
})

t.test('a mirror is not exported before its copy is consistent', async (t) => {
  for (const [mirror, code, stderr] of [
    [BEGUN, 1, /still copying the plants of https:\/\/plants.example/],
    [COPIED, 1, /still copying/],
    [CONSISTENT, 0, /exported 0 plants/],
  ] as const) {
    const { database, store, run } = await commandsOf(t)
    await makeMirror(store, mirror)
    const file = `${database}.csv`
    t.match(await run('export', file), { code, stderr })
    t.equal(existsSync(file), code === 0)
  }
})

t.test('an import into a restricted database says in one line how to end that', async (t) => {
  const frozen = await commandsOf(t)
  await frozen.run('freeze')
  const mirror = await commandsOf(t)
  await makeMirror(mirror.store)
  for (const [{ run }, reason] of [
    [
      frozen,
      'restricted: changes are frozen while the plants move to another database; to end this, run plant-store unfreeze',
    ],
    [mirror, 'read-only: it mirrors https://plants.example; to end this, run plant-store promote'],
  ] as const) {
    const stderr = `plant-store: the store is ${reason}\n`
    t.match(await run('import', 'data/sample.csv'), { code: 1, stderr })
    if (run !== frozen.run) continue
    t.same(await run('--port', '0', '--seed', 'data/sample.csv'), { code: 1, stdout: '', stderr })
  }
})

t.test('a mirror is promoted once it is consistent', async (t) => {
  const { database, store, run } = await commandsOf(t)
  const refused = (problem: string) => ({
    code: 1,
    stdout: '',
    stderr: `plant-store: cannot ${problem}\n`,
  })
  t.same(await run('promote'), refused(`promote ${database}: it is not a mirror`))
  await makeMirror(store, BEGUN)
  const reason =
    'it is still copying the plants of https://plants.example; let plant-store mirror catch up first'
  t.same(await run('promote'), refused(`promote ${database}: ${reason}`))
  await restrict(store, { expected: BEGUN, next: COPIED })
  t.same(await run('promote'), refused(`promote ${database}: ${reason}`))
  await restrict(store, { expected: COPIED, next: CONSISTENT })
  for (const command of ['freeze', 'unfreeze']) {
    const mirrors = 'it mirrors https://plants.example, so only plant-store mirror changes it'
    t.same(await run(command), refused(`${command} ${database}: ${mirrors}`))
  }
  const { code, stdout } = await run('promote')
  t.equal(code, 0)
  const [first, ...rest] = stdout.split('\n')
  const promoted = `promoted: ${database} no longer mirrors https://plants.example and accepts changes`
  t.equal(first, promoted)
  t.match(rest.join(' '), /token copy.*webhook copy.*clients.*410/)
})
