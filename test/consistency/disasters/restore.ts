import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { toJson } from '../../../client/json.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { type PlantRow, toPlant } from '../../../src/stores/shared/rows.ts'
import { databaseIn, plantStore, Service } from '../services/service.ts'
import type { Place } from '../services/target.ts'
import type { Disaster } from './disaster.ts'

/**
 * A backup is made, and some time later the service is killed and the backup restored, as docs/operating.md says. The
 * plants in it are those at one moment of the backup, so for the judges it is a read.
 */
export const restore: Disaster = {
  name: 'restore',
  start: async (place) => {
    const service = await new Service(place.owner, databaseIn(place.folder)).start()
    let number = 0
    const harm = async () => {
      number += 1
      await restoreBackup(place, service, number)
      await service.start()
    }
    return { urls: service.urls, harm }
  },
}

async function restoreBackup({ owner, folder, history }: Place, service: Service, number: number) {
  const backup = join(folder, `backup-${number}.db`)
  const called = performance.now()
  await plantStore(owner, 'backup', backup, '--database', service.database)
  const ended = performance.now()
  await service.stop('SIGKILL')
  const before = join(folder, `before-${number}`)
  mkdirSync(before)
  for (const name of readdirSync(folder).filter((each) => each.startsWith('plants.db'))) {
    renameSync(join(folder, name), join(before, name))
  }
  await plantStore(owner, 'restore', backup, '--database', service.database)
  const plants = plantsIn(service.database)
  const answer = { status: 200, body: toJson(plants) }
  history.calls.push({
    client: 'backup',
    operation: 'list',
    arguments: { query: '' },
    called,
    ended,
    answer,
  })
  history.restored(plants)
}

function plantsIn(file: string): StoredPlant[] {
  const db = new Sqlite(file, { readonly: true }).defaultSafeIntegers()
  try {
    return db.prepare<[], PlantRow>('SELECT * FROM plants ORDER BY id').all().map(toPlant)
  } finally {
    db.close()
  }
}
