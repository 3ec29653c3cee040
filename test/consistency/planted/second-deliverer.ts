import { pino } from 'pino'
import { PlantCodec } from '../../../service/plant-codec.ts'
import { WebhookStore, type Webhooks } from '../../../service/webhook-store.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import { openStore } from '../../../src/stores/engines.ts'
import { WebhookDeliveries } from '../../../src/webhooks/webhook-deliveries.ts'
import type { Owner } from '../../helpers/processes/command.ts'
import type { Target } from '../services/target.ts'
import { withInstead } from './faulty-service.ts'

/** Delivers to the webhooks of a service from this process too, although the service has the lease. */
export async function deliverToo(owner: Owner, { database = '' }: Target): Promise<void> {
  const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
  const deliveries = new WebhookDeliveries({
    store: {
      readChanges: (request) => store.readChanges(request),
      nextCommit: () => store.nextCommit(),
      findRecord: (...args) => store.findRecord(...args),
    },
    webhooks: asIfLeased(new WebhookStore(store)),
    codec: new PlantCodec([]),
    log: pino({ level: 'silent' }),
    keepChanges: defaultConfig().keepChanges,
    allowPrivate: true,
  })
  owner.teardown(async () => {
    await deliveries.close()
    await store.close()
  })
}

/** Webhooks whose lease the process that asks for it always seems to have. */
function asIfLeased(webhooks: Webhooks): Webhooks {
  let holder: string | undefined
  return withInstead(webhooks, {
    list: async () =>
      (await webhooks.list()).map((each) => ({ ...each, owner: holder, version: '' })),
    lease: async (owner) => {
      holder = owner
      return true
    },
    saveProgress: async (saved) => new Map(saved.map(({ name }) => [name, ''])),
    release: async () => {},
  })
}
