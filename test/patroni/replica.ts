import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort, type Owner } from '../../tools/postgres/postgres-server.ts'
import { TOKEN } from '../consistency/load/exchange.ts'
import { Daemon } from './daemon.ts'
import type { Place } from './place.ts'

const COMMAND = fileURLToPath(new URL('../../bin/plant-store.js', import.meta.url))

/** As many as deploy/patroni/patroni.yml has in synchronous_node_count. */
const REQUIRED_STANDBYS = 1

/** A replica of the service. */
export class Replica extends Daemon {
  readonly url: string

  private constructor(owner: Owner, place: Place, port: number) {
    const env = {
      PLANT_STORE_HOST: place.proxy,
      PLANT_STORE_PORT: String(port),
      PLANT_STORE_DATABASE: databaseUrl(place),
      PLANT_STORE_TOKEN: TOKEN,
      PLANT_STORE_REQUIRE_STANDBYS: String(REQUIRED_STANDBYS),
      ...settingsFromEnvironment(),
    }
    const log = join(place.folder, `replica-${port}.log`)
    super(owner, { line: [process.execPath, COMMAND], log, env })
    this.url = `http://${place.proxy}:${port}`
  }

  static async make(owner: Owner, place: Place): Promise<Replica> {
    return new Replica(owner, place, await freePort())
  }

  async isReady(): Promise<boolean> {
    const response = await fetch(`${this.url}/health/ready`, {
      signal: AbortSignal.timeout(10_000),
    })
    await response.body?.cancel()
    return response.ok
  }
}

/** Settings of the service that the one who runs the test wants to try, such as PLANT_STORE_LOCK_TIMEOUT. */
function settingsFromEnvironment(): NodeJS.ProcessEnv {
  const given = Object.entries(process.env).filter(([name]) => name.startsWith('PLANT_STORE_'))
  return Object.fromEntries(given)
}

/** Lets all replicas acknowledge changes that no standby has. */
export async function requireNoStandbys(place: Place): Promise<void> {
  const env = { ...process.env, PLANT_STORE_DATABASE: databaseUrl(place) }
  await promisify(execFile)(process.execPath, [COMMAND, 'require-standbys', '0'], { env })
}

/** A connection string as in docs/high-availability.md, which leads to the primary. */
function databaseUrl({ hosts, proxy, isDirect, password, caFile }: Place): string {
  const servers = isDirect ? hosts.map((host) => `${host}:5432`).join() : `${proxy}:5000`
  // HAProxy is not in the servers' certificates.
  const mode = isDirect ? 'verify-full' : 'verify-ca'
  const parameters = `sslmode=${mode}&sslrootcert=${encodeURIComponent(caFile)}`
  return `postgres://plants:${password}@${servers}/plants?${parameters}`
}
