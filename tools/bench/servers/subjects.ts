import { constants, readFileSync } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import type { Target } from '../load/generators.ts'
import type { Kind, Template } from '../load/request-kinds.ts'
import { countExported, fillDatabase, type Server, startServer } from './servers.ts'

/** Something to measure. */
export interface Subject {
  readonly name: string
  /** Description in a chart. */
  readonly title: string
  /** In SVG's notation. */
  readonly color: string
  /** Stored before the load starts. */
  readonly stored: number
  /** How to speak to it, if not as to the service. */
  readonly dialect?: Dialect
  /** Multiplies the connections and the warm-up. */
  readonly size?: number
  /** Prepares what every start needs, in a folder of its own. */
  readonly prepare?: (folder: string) => Promise<void>
  /** Starts it with `stored` plants, in a new folder. */
  readonly start: (folder: string) => Promise<Running>
  /** Limits its servers after the warm-up, until disposal. */
  readonly limit?: (servers: readonly Server[]) => Disposable
}

/** The interface of a server. */
export interface Dialect {
  /** The requests of each kind of load that it supports, sent in rotation. */
  readonly requests: Readonly<Partial<Record<Kind, readonly Template[]>>>
  /** The statuses of success. */
  readonly successes: readonly number[]
  /**
   * Verifies that a server does the work it is measured for.
   *
   * @throws Error naming an unexpected response
   */
  readonly check: (target: Target) => Promise<void>
}

export interface Running {
  readonly servers: readonly Server[]
  /** The process id of the database server. */
  readonly database?: number | undefined
  /** The number of stored plants. Called after the servers have stopped. Undefined if it stores none. */
  readonly count?: () => Promise<number>
  readonly stop?: () => Promise<void>
}

export const BARE_SERVERS = ['ceiling', 'commit each', 'commit each, NORMAL'] as const

/** Bare Fastify servers, which the service is compared with. */
export function bareSubject(name: (typeof BARE_SERVERS)[number], stored: number): Subject {
  return {
    name,
    ...DESCRIPTIONS[name],
    stored,
    async start(folder) {
      const { mode } = DESCRIPTIONS[name]
      const file = join(folder, 'plants.db')
      const server = await startBareServer(mode, file, stored, folder)
      if (mode === 'nothing') return { servers: [server] }
      return { servers: [server], count: async () => countRows(file) }
    },
  }
}

const DESCRIPTIONS = {
  ceiling: { title: 'bare Fastify, stores nothing', color: '#b8c0cc', mode: 'nothing' },
  'commit each': { title: 'a commit for each request', color: '#d9774b', mode: 'FULL' },
  'commit each, NORMAL': {
    title: 'the same, synchronous=NORMAL',
    color: '#e8b84a',
    mode: 'NORMAL',
  },
} as const

const BARE_TOKEN = 'a-token-for-the-benchmark'

const BARE_PROGRAM = fileURLToPath(new URL('./bare-server.ts', import.meta.url))

/**
 * @param mode one of those in `bare-server.ts`
 * @param program another program with the same arguments
 */
export function startBareServer(
  mode: string,
  database: string,
  stored: number,
  folder: string,
  program = BARE_PROGRAM,
) {
  const command = [program, mode, database, String(stored), BARE_TOKEN]
  return startServer(command, join(folder, 'log'), () => BARE_TOKEN)
}

/** The number of plants in an SQLite file. */
export function countRows(file: string): number {
  const db = new Sqlite(file, { readonly: true })
  try {
    return db.prepare<[], number>('SELECT count(*) FROM plants').pluck().get() as number
  } finally {
    db.close()
  }
}

/** The service in this working tree. */
export const OWN_PROGRAM = fileURLToPath(new URL('../../../bin/plant-store.js', import.meta.url))

/** Arguments to Node that start a version of the service on a free port. */
export function serviceCommand(program: string, database: string): string[] {
  return [program, '--ready-json', '--port', '0', '--database', database]
}

interface Service extends Pick<Subject, 'name' | 'title' | 'color' | 'stored' | 'size' | 'limit'> {
  readonly program: string
  /** Additional arguments. */
  readonly flags?: readonly string[]
}

/** A version of the service on SQLite, driven only by its command line and HTTP, so that it can be of any age. */
export function serviceSubject({ program, flags = [], ...subject }: Service): Subject {
  let filled = ''
  return {
    ...subject,
    async prepare(folder) {
      filled = join(folder, 'filled.db')
      await fillDatabase(program, filled, subject.stored)
    },
    async start(folder) {
      const database = join(folder, 'plants.db')
      await copyFile(filled, database, constants.COPYFILE_FICLONE)
      // Otherwise the disk would still be writing the copy during the measurement.
      const copy = await open(database, 'r+')
      await copy.sync()
      await copy.close()
      const command = [...serviceCommand(program, database), ...flags]
      // The first start on a database creates a token.
      const readToken = () => readFileSync(join(folder, 'access-token'), 'utf8').trim()
      const server = await startServer(command, join(folder, 'log'), readToken)
      return { servers: [server], count: () => countExported(program, database) }
    },
  }
}
