import { setTimeout } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { CONSUMERS } from '../consumers/consumers.ts'
import { databaseIn, Service } from '../services/service.ts'
import type { Disaster } from './disaster.ts'

const LOCK_TIMEOUT_MS = 200

/** Another process locks the database, often for longer than the service waits. */
export const lock: Disaster = {
  name: 'lock',
  consumers: CONSUMERS,
  start: async ({ owner, folder, random }) => {
    const timeout = `--lock-timeout=${LOCK_TIMEOUT_MS}ms`
    const service = await new Service(owner, databaseIn(folder)).start('--threads=2', timeout)
    const holder = new Sqlite(service.database)
    owner.teardown(() => holder.close())
    const harm = async () => {
      holder.exec('BEGIN IMMEDIATE')
      await setTimeout(random.below(3 * LOCK_TIMEOUT_MS))
      holder.exec('ROLLBACK')
    }
    return { urls: service.urls, harm, database: service.database }
  },
}
