import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { Command } from '../../helpers/command.ts'

const TOKEN = 'a-token-for-the-test'
const CLIENTS = 40
const ROUNDS = 2

t.test('a service killed at any moment has every plant that it acknowledged', async (t) => {
  let store: SqliteStore | undefined
  t.teardown(() => store?.close())
  const file = join(t.testdir(), 'plants.db')
  let sent = 0
  const acknowledged: number[] = []

  for (let round = 1; round <= ROUNDS; round++) {
    const command = new Command(t, ['--port', '0', '--database', file], {
      measured: false,
      env: { PLANT_STORE_TOKEN: TOKEN },
    })
    const url = await command.listening()
    const enough = acknowledged.length + randomInt(100, 1000)
    const client = async () => {
      for (;;) {
        sent += 1
        const id = sent
        const status = await create(url, id)
        if (status === undefined) return
        if (status !== 200) throw new Error(`${status} for the plant ${id}`)
        acknowledged.push(id)
        if (acknowledged.length === enough) command.process.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    await command.finished()
    t.equal(command.process.signalCode, 'SIGKILL')
    t.ok(sent > acknowledged.length, `killed at ${acknowledged.length} of ${sent}`)

    const db = new Sqlite(file)
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok')
    const strange = db.prepare("SELECT count(*) FROM plants WHERE name <> 'plant ' || id")
    t.equal(strange.pluck().get(), 0)
    db.close()
  }

  store = new SqliteStore({ file, lockTimeout: 5000 })
  const again = acknowledged.map((id) => store?.create({ id: BigInt(id), name: nameOf(id) }))
  t.same([...new Set(await Promise.all(again))], ['replayed'])
})

/** Resolves to the status, or to nothing if the service is gone before it has answered. */
async function create(url: string, id: number): Promise<number | undefined> {
  try {
    const { status } = await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id, name: nameOf(id) }),
    })
    return status
  } catch {
    return undefined
  }
}

function nameOf(id: number): string {
  return `plant ${id}`
}
