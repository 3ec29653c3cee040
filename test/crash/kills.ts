import { randomInt } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import type { Test } from 'tap'
import type { StoredPlant } from '../../service/plant-store.ts'
import { type PlantRow, toPlant } from '../../src/stores/shared/rows.ts'
import { checkDatabase } from '../../src/stores/sqlite/check/sqlite-check.ts'
import { Command } from '../helpers/command.ts'
import { THREADS } from '../helpers/threads.ts'
import { TOKEN } from '../load/requests.ts'
import { Clients } from './clients.ts'
import type { History } from './history.ts'
import { changesIn, yields } from './logged-changes.ts'

/** With more kills, the time of a start is limited as well. */
const FEW_KILLS = 10

/** Limit for a start after a crash, in milliseconds. */
const START_MS_MAX = 1000

/** The most changes that are acknowledged before a kill. */
const CHANGES_MAX = 1500

/** Kills a service on a database file at random moments, and looks after each start for what was lost. */
export async function killAtRandomMoments(
  t: Test,
  { file, history, kills }: { file: string; history: History; kills: number },
): Promise<void> {
  const clients = new Clients(history)
  const starts: number[] = []
  for (let round = 0; round <= kills; round++) {
    const { command, url, took } = await start(t, file, round)
    if (round > 0) starts.push(took)
    const stored = storedIn(file)
    t.same(history.faults(stored), [])
    t.same(faultsOf(file), [])
    history.continueFrom(stored)
    const changes = changesIn(file)
    t.same(history.logged.faults(changes), [])
    t.ok(yields(changes, stored), 'repeating the changes yields the plants')
    // The first kill comes when there are changes of each kind.
    const enough = history.acknowledged + randomInt(round === 0 ? 500 : 1, CHANGES_MAX)
    const killAtRandom = () => {
      if (history.acknowledged >= enough) command.process.kill('SIGKILL')
    }
    if (round < kills) await clients.run(url, killAtRandom)
    else command.process.kill('SIGKILL')
    await command.finished()
    t.equal(command.process.signalCode, 'SIGKILL')
  }
  const findings = [...checkDatabase({ file, lockTimeout: 5000 })]
  t.same(
    findings.filter(({ status }) => status === 'fault'),
    [],
  )
  const { acknowledged, answers, lost } = history
  t.comment({ kills, acknowledged, answers, ...lost, plants: storedIn(file).length, starts })
  if (kills > FEW_KILLS) t.ok(Math.max(...starts) <= START_MS_MAX, 'a start takes at most a second')
}

/** Starts the service: in every second round with several HTTP threads. */
async function start(t: Test, file: string, round: number) {
  const threads = round % 2 === 0 ? 1 : THREADS
  const begin = performance.now()
  const command = new Command(t, ['--port=0', `--threads=${threads}`, '--database', file], {
    env: { PLANT_STORE_TOKEN: TOKEN },
  })
  const url = await command.listening()
  return { command, url, took: Math.round(performance.now() - begin) }
}

/** The plants in the file, read through another connection. */
export function storedIn(file: string): StoredPlant[] {
  const db = new Sqlite(file, { readonly: true }).defaultSafeIntegers()
  try {
    return db.prepare<[], PlantRow>('SELECT * FROM plants').all().map(toPlant)
  } finally {
    db.close()
  }
}

/** The faults that `plant-store check` finds. */
function faultsOf(file: string): string[] {
  const findings = [...checkDatabase({ file, lockTimeout: 5000 })]
  const faults = findings.filter(({ status }) => status === 'fault')
  return faults.map(({ subject, message }) => `${subject}: ${message}`)
}
