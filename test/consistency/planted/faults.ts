/** Faults that the judges must find. Those that are found soonest come first. */
import { fileURLToPath } from 'node:url'
import { sqliteMirrorBy } from '../consumers/mirror.ts'
import { webhook } from '../consumers/webhook.ts'
import type { Disaster } from '../disasters/disaster.ts'
import { none } from '../disasters/none.ts'
import { promoteBy } from '../disasters/promote.ts'
import { faultyService } from './faulty-service.ts'
import { promoteWithoutLastStep } from './forgetful-promote.ts'
import { deliverToo } from './second-deliverer.ts'
import { STORE_FAULTS } from './store-faults.ts'

const twoDeliverers: Disaster = {
  ...none,
  name: 'two deliverers of a webhook',
  consumers: {
    webhook: async (place, target) => {
      const consumer = await webhook(place, target)
      await deliverToo(place.owner, target)
      return consumer
    },
  },
}

/** @param file the name of the program that mirrors */
function faultyMirror(name: string, file: string): Disaster {
  const mirror = sqliteMirrorBy(fileURLToPath(new URL(file, import.meta.url)))
  return { ...none, name, consumers: { 'sqlite-mirror': mirror } }
}

const forgetfulPromote = promoteBy('a promote that forgets the last step', (_owner, database) =>
  promoteWithoutLastStep(database),
)

export const FAULTS: readonly Disaster[] = [
  ...STORE_FAULTS.map(faultyService),
  twoDeliverers,
  faultyMirror('a mirror that stores its position first', 'position-first-mirror.ts'),
  faultyMirror('a mirror with a part of a list', 'change-by-change-mirror.ts'),
  forgetfulPromote,
]
