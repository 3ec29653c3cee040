/** Runs the application in a thread of its own, as the main thread tells it to. */
import { storeOptions } from '../config/config.ts'
import { serviceBusy } from '../http/responses/api-error.ts'
import { createLog } from '../observing/log.ts'
import { joinStore } from '../stores/engines.ts'
import type { ThreadStore } from '../stores/shared/store.ts'
import { RemoteCalls, serveCalls } from '../system/remote-calls.ts'
import { type HttpServer, prepareHttpServer } from './http-server.ts'
import { httpThread, type MainMethods, type ThreadData, type ThreadMethods } from './thread-data.ts'

const { data } = httpThread
const main = new RemoteCalls<MainMethods>(data.main, 'the main thread')
const prepared = Promise.withResolvers<{ store: ThreadStore; server: HttpServer }>()
// The main thread gets the error from `prepare`.
prepared.promise.catch(() => {})

serveCalls<keyof ThreadMethods>(data.control, {
  prepare: async () => {
    prepared.resolve(prepareHere(data))
    await prepared.promise
  },
  listen: async (endpoint) => (await prepared.promise).server.listen(endpoint),
  readMetrics: async () => {
    const { server, store } = await prepared.promise
    return [...(await server.readMetrics()), ...(await store.metrics())]
  },
  ping: async () => (await prepared.promise).store.ping(),
  close: async () => {
    const { store, server } = await prepared.promise
    await server.close()
    main.close()
    await store.close()
  },
})

async function prepareHere(data: ThreadData) {
  const { config, contract, hiddenFields, logsForAll, threads, ticketSecret } = data
  const log = await createLog(config, data.isTerminal)
  const store = await joinStore(storeOptions(config), data.store)
  const checkReady = async () => {
    const stuck = await main.call('findStuckThread')
    if (stuck === undefined) return
    log.warn(`${stuck} does not respond`)
    throw serviceBusy()
  }
  const server = await prepareHttpServer({
    config,
    contract,
    hiddenFields,
    store,
    log,
    logsForAll,
    thread: data.number,
    threads,
    checkReady,
    readKeys: () => main.call('readKeys'),
    ticketSecret,
  })
  return { store, server }
}
