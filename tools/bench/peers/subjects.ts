import type { PostgresDatabases } from '../servers/postgres-databases.ts'
import { bareSubject, OWN_PROGRAM, type Subject, serviceSubject } from '../servers/subjects.ts'
import { JSON_SERVER, PLATFORMATIC, POSTGREST, SOUL } from './dialects.ts'
import {
  startExpress,
  startJsonServer,
  startPlatformatic,
  startSoul,
  startSqlServer,
} from './start.ts'

/** A subject with what explains its figures. */
export interface Peer extends Subject {
  /** Where a create is when it is acknowledged. */
  readonly durability: string
  /** What a request is checked for. */
  readonly checks: string
}

type Described = Omit<Peer, 'title' | 'color' | 'stored'>

/** An fsync precedes the response. */
const ON_DISK = '**on disk**'
const IN_CACHE = "in the system's cache"

const CONTRACT = 'token, contract'
const SCHEMA = 'token, JSON Schema'
const TABLE = "the table's constraints"

/**
 * The service and its peers. Each has `stored` plants, and its default settings unless its name says otherwise.
 *
 * @param databases starts those on PostgreSQL. Called only when one starts.
 */
export function peers(stored: number, databases: () => PostgresDatabases): Peer[] {
  return [...onSqlite(stored), ...onFile(stored), ...onPostgres(stored, databases)].map((peer) => {
    return { ...peer, ...NO_CHART, stored }
  })
}

/** The peers are too many for a chart. */
const NO_CHART = { title: '', color: '' }

function onSqlite(stored: number): Described[] {
  const service = { ...NO_CHART, stored, program: OWN_PROGRAM, name: 'plant store' }
  const none = { ...bareSubject('ceiling', stored), name: 'Fastify' }
  const normal = bareSubject('commit each, NORMAL', stored)
  const full = bareSubject('commit each', stored)
  return [
    { ...serviceSubject(service), durability: ON_DISK, checks: CONTRACT },
    { ...none, durability: 'not stored', checks: SCHEMA },
    { ...normal, name: 'Fastify, NORMAL', durability: IN_CACHE, checks: SCHEMA },
    { ...full, name: 'Fastify, FULL', durability: ON_DISK, checks: SCHEMA },
    {
      name: 'Express, NORMAL',
      durability: IN_CACHE,
      checks: CONTRACT,
      start: (folder) => startExpress('NORMAL', stored, folder),
    },
    {
      name: 'Express, FULL',
      durability: ON_DISK,
      checks: CONTRACT,
      start: (folder) => startExpress('FULL', stored, folder),
    },
    {
      name: 'Platformatic DB',
      durability: ON_DISK,
      checks: 'JSON Schema',
      dialect: PLATFORMATIC,
      start: (folder) => startPlatformatic('DELETE', stored, folder),
    },
    {
      name: 'Platformatic DB, WAL',
      durability: IN_CACHE,
      checks: 'JSON Schema',
      dialect: PLATFORMATIC,
      start: (folder) => startPlatformatic('WAL', stored, folder),
    },
    {
      name: 'Soul',
      durability: IN_CACHE,
      checks: TABLE,
      dialect: SOUL,
      start: (folder) => startSoul(stored, folder),
    },
  ]
}

function onFile(stored: number): Described[] {
  return [
    {
      name: 'json-server',
      durability: 'in a rewritten file, not synced',
      checks: 'nothing',
      dialect: JSON_SERVER,
      start: (folder) => startJsonServer(stored, folder),
    },
  ]
}

function onPostgres(stored: number, databases: () => PostgresDatabases): Described[] {
  return [
    {
      name: 'plant store, PostgreSQL',
      durability: ON_DISK,
      checks: CONTRACT,
      start: (folder) => databases().startReplicas({ count: 1, stored }, folder),
    },
    {
      name: 'PostgREST-like',
      durability: ON_DISK,
      checks: TABLE,
      dialect: POSTGREST,
      start: (folder) => startSqlServer('on', databases(), stored, folder),
    },
    {
      name: 'PostgREST-like, async',
      durability: "in PostgreSQL's memory",
      checks: TABLE,
      dialect: POSTGREST,
      start: (folder) => startSqlServer('off', databases(), stored, folder),
    },
  ]
}
