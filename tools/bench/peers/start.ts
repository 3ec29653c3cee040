/** Starts the peers, each with `stored` plants and in a new folder. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { freePort } from '../../postgres/postgres-server.ts'
import { FIRST_ID, makePlant } from '../load/request-kinds.ts'
import { fillTable } from '../servers/bare-plants.ts'
import type { PostgresDatabases } from '../servers/postgres-databases.ts'
import { startServer, startServerOn } from '../servers/servers.ts'
import { countRows, type Running, startBareServer } from '../servers/subjects.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** @param synchronous the value of SQLite's `PRAGMA synchronous` */
export async function startExpress(
  synchronous: 'FULL' | 'NORMAL',
  stored: number,
  folder: string,
): Promise<Running> {
  const file = join(folder, 'plants.db')
  const program = here('./express-server.js')
  const server = await startBareServer(synchronous, file, stored, folder, program)
  return { servers: [server], count: async () => countRows(file) }
}

/** @param journal the value of SQLite's `PRAGMA journal_mode`, which the file keeps */
export async function startPlatformatic(
  journal: 'DELETE' | 'WAL',
  stored: number,
  folder: string,
): Promise<Running> {
  const file = createFile(stored, folder, journal)
  const port = await freePort()
  const settings = {
    module: '@platformatic/db',
    db: { connectionString: `sqlite://${file}` },
    server: { hostname: '127.0.0.1', port },
  }
  await writeFile(join(folder, 'watt.json'), JSON.stringify(settings))
  const command = [here('./node_modules/wattpm/bin/cli.js'), 'start', folder]
  const server = await startServerOn(port, command, join(folder, 'log'))
  return { servers: [server], count: async () => countRows(file) }
}

export async function startSoul(stored: number, folder: string): Promise<Running> {
  const file = createFile(stored, folder)
  const port = await freePort()
  const own = ['--database', file, '--port', String(port)]
  const command = [here('./node_modules/soul-cli/src/server.js'), ...own]
  const server = await startServerOn(port, command, join(folder, 'log'))
  return { servers: [server], count: async () => countRows(file) }
}

export async function startJsonServer(stored: number, folder: string): Promise<Running> {
  const file = join(folder, 'plants.json')
  const plants = Array.from({ length: stored }, (_, index) => {
    const id = FIRST_ID + index
    return { ...makePlant(id), id: String(id) }
  })
  await writeFile(file, JSON.stringify({ plants }), { flush: true })
  const port = await freePort()
  const command = [here('./node_modules/json-server/lib/bin.js'), file, '--port', String(port)]
  const server = await startServerOn(port, command, join(folder, 'log'))
  return {
    servers: [server],
    count: async () => JSON.parse(await readFile(file, 'utf8')).plants.length,
  }
}

/** @param synchronous the value of PostgreSQL's `synchronous_commit` */
export async function startSqlServer(
  synchronous: 'on' | 'off',
  databases: PostgresDatabases,
  stored: number,
  folder: string,
): Promise<Running> {
  const { name, url } = await databases.create()
  const options = encodeURIComponent(`-c synchronous_commit=${synchronous}`)
  const command = [here('./sql-server.ts'), `${url}?options=${options}`, String(stored)]
  const server = await startServer(command, join(folder, 'log'), () => '')
  return databases.runOn(name, [server])
}

/** @param journal by default, SQLite's */
function createFile(stored: number, folder: string, journal = 'DELETE'): string {
  const file = join(folder, 'plants.db')
  const db = new Sqlite(file)
  db.pragma(`journal_mode = ${journal}`)
  fillTable(db, stored)
  db.close()
  return file
}
