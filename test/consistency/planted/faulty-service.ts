import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { extendContract, loadContract } from '../../../core/contract/contract.ts'
import { defaultConfig, storeOptions } from '../../../src/config/config.ts'
import { openStore } from '../../../src/stores/engines.ts'
import type { ThreadStore } from '../../../src/stores/shared/store.ts'
import { prepareHttpServer } from '../../../src/threads/http-server.ts'
import { OWN_FIELDS } from '../../helpers/plants/nursery.ts'
import type { Random } from '../../hostile/fuzz/random.ts'
import type { Disaster } from '../disasters/disaster.ts'
import { TOKEN } from '../load/exchange.ts'

/** A fault of a store: the methods that are wrong, around a store that is right. */
export interface StoreFault {
  readonly name: string
  /** Whether the contract has own fields. */
  readonly hasFields?: boolean
  readonly plant: (store: ThreadStore, random: Random) => Partial<ThreadStore>
}

/** Serves a store with a fault, in this process and as in production otherwise. */
export function faultyService({ name, plant, hasFields = false }: StoreFault): Disaster {
  return {
    name,
    start: async ({ owner, folder, random }) => {
      const config = { ...defaultConfig(), token: TOKEN, database: join(folder, 'plants.db') }
      const store = await openStore(storeOptions(config))
      owner.teardown(() => store.close())
      const { listen, app, close } = await prepareHttpServer({
        config,
        contract: extendContract(loadContract(), hasFields ? OWN_FIELDS : []),
        store: withInstead(store, plant(store, random)),
        log: undefined,
      })
      owner.teardown(async () => {
        app.server.closeAllConnections()
        await close()
      })
      const { addresses } = await listen({ hosts: ['127.0.0.1'], port: 0 })
      const { port } = addresses[0] as AddressInfo
      return { urls: () => [`http://127.0.0.1:${port}`], ...(hasFields && { fields: OWN_FIELDS }) }
    },
  }
}

/** An object some of whose methods are replaced. */
export function withInstead<Whole extends object>(whole: Whole, instead: Partial<Whole>): Whole {
  return new Proxy(whole, {
    get: (_target, name) => {
      const method = instead[name as keyof Whole] ?? whole[name as keyof Whole]
      return typeof method === 'function' ? method.bind(whole) : method
    },
  })
}
