import { Agent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { parseJson, toJson } from '../../../client/json.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { startPostgres } from '../../../tools/postgres/postgres-server.ts'
import { CuttingProxy } from '../../mirror/cutting-proxy.ts'
import { SmallDisk } from '../../mirror/small-disk.ts'
import { replay } from '../../stores/feed-reads.ts'
import { exported } from '../../stores/plants.ts'
import { judgeMirror, judgePosition } from '../judges/mirror.ts'
import { exchange } from '../load/exchange.ts'
import { readFeed } from '../load/follower.ts'
import type { HttpRequest } from '../operations/operation.ts'
import { MirrorProcess } from '../services/mirror-process.ts'
import {
  databaseIn,
  readMirror,
  Service,
  type StoredMirror,
  withStore,
} from '../services/service.ts'
import type { Place, Target } from '../services/target.ts'
import type { Consumer, StartConsumer } from './consumer.ts'

/** A list of all plants. */
const LIST: HttpRequest = { method: 'GET', path: '/plants?limit=1000' }

/** The pause between two reads of the mirror, in milliseconds. */
const PAUSE_MS = 20

/** The most connections that are refused after a cut. */
const REFUSALS_MAX = 2

/** The most data until a kill, in chunks from the source. */
const CHUNKS_MAX = 15

/**
 * The longest time from data to a kill, in milliseconds. The mirror parses and commits the data within this time, which
 * nothing outside shows, so a random moment can be before, during or after the commit.
 */
const COMMIT_MS_MAX = 30

/** What a mirror reports while its database fails. */
const FAILING = 'the store is failing'

/** Where a mirror stores its plants, and what follows the source. */
interface MirrorParts {
  /** The program, by default that of this checkout. */
  readonly main?: string | undefined
  readonly disk: SmallDisk
  /** Serves the mirror. */
  readonly service: Service
  /** Crashes the database's server. */
  readonly crash?: () => Promise<void>
}

/** A mirror on SQLite that is killed, cut off and restarted, and whose disk becomes full. */
export const sqliteMirror = sqliteMirrorBy()

/** @param main the program, by default that of this checkout */
export function sqliteMirrorBy(main?: string): StartConsumer {
  return async (place, target) => {
    const disk = new SmallDisk(place.owner)
    const service = new Service(place.owner, databaseIn(disk.folder))
    return start(place, target, { disk, service, main })
  }
}

/** A mirror on PostgreSQL, whose server crashes too. */
export const postgresMirror: StartConsumer = async (place, target) => {
  const disk = new SmallDisk(place.owner)
  const { server } = await startPostgres(place.owner)
  await server.query(`CREATE TABLESPACE small LOCATION '${disk.folder}'`)
  await server.query('CREATE DATABASE mirror TABLESPACE small')
  const crash = async () => {
    await server.crash()
    await server.start()
  }
  const service = new Service(place.owner, server.url('mirror'))
  return start(place, target, { disk, service, crash })
}

async function start(
  { owner, random }: Place,
  { urls }: Target,
  { disk, service, crash, main }: MirrorParts,
): Promise<Consumer> {
  const proxy = await CuttingProxy.start(owner, urls)
  const mirror = new MirrorProcess(owner, proxy.url, service.database, main)
  await mirror.caughtUp()
  await service.start()
  const reader = new MirrorReader(service.urls)
  owner.teardown(() => reader.end())
  /** The plants before the feed of the mirror. */
  let before: readonly StoredPlant[] = []

  /** The mirror after each kill. */
  const killed: StoredMirror[] = []

  const kill = async () => {
    await mirror.whileRunning(proxy.chunks(1 + random.below(CHUNKS_MAX)))
    await setTimeout(random.below(COMMIT_MS_MAX))
    await mirror.kill()
    killed.push(await readMirror(service.database))
    mirror.continue()
  }
  const restart = async () => {
    await mirror.kill()
    // On SQLite, a new feed keeps the earlier changes.
    if (crash !== undefined) before = await withStore(service.database, exported)
    mirror.continue('--restart')
    await mirror.caughtUp()
  }
  const fill = async () => {
    disk.fill()
    await mirror.says(FAILING)
    await mirror.kill()
    disk.makeRoom()
    mirror.continue()
  }
  const cut = () => mirror.whileRunning(proxy.cut(random.below(REFUSALS_MAX + 1)))
  const possible = [cut, restart, disk.isMounted && fill, crash]
  const others = random.shuffled(possible.filter((each) => typeof each === 'function'))
  // Even a short run has a kill.
  const harms = [kill, ...others]
  let turn = 0
  return {
    harm: async () => {
      await harms[turn++ % harms.length]?.()
    },
    judge: async (feed) => {
      await mirror.finish()
      await reader.end()
      const expected = toJson(replay(feed))
      const found = toJson(reader.observed.at(-1) ?? null)
      const replayed = toJson(replay(await readFeed(service.urls), before))
      return [
        ...judgeMirror(reader.observed, feed),
        ...killed.flatMap((each) => judgePosition(each, feed)),
        ...(found === expected ? [] : [`in the end, the mirror has ${found}, not ${expected}`]),
        ...(replayed === found
          ? []
          : [`the changes of the mirror yield ${replayed}, not ${found}`]),
      ]
    },
  }
}

/** A client that reads a mirror again and again. */
class MirrorReader {
  /** What it saw, without repetitions. */
  readonly observed: StoredPlant[][] = []
  readonly #urls: () => readonly string[]
  readonly #agent = new Agent({ keepAlive: true })
  readonly #ended: Promise<void>
  #isEnding = false
  #latest = ''

  constructor(urls: () => readonly string[]) {
    this.#urls = urls
    this.#ended = this.#readOn()
  }

  /** Resolves after a last read. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#ended
    await this.#read()
    this.#agent.destroy()
  }

  async #readOn(): Promise<void> {
    while (!this.#isEnding) {
      await this.#read()
      await setTimeout(PAUSE_MS)
    }
  }

  async #read(): Promise<void> {
    const answer = await exchange(this.#agent, this.#urls()[0] as string, LIST)
    if (typeof answer !== 'object' || answer.status !== 200 || answer.body === this.#latest) return
    this.#latest = answer.body
    this.observed.push(parseJson(answer.body) as StoredPlant[])
  }
}
