import type { FastifyBaseLogger } from 'fastify'
import {
  type ContractDocument,
  extendContract,
  loadContract,
  plantMembers,
  sortableMembers,
} from '../../core/contract/contract.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import { type Restriction, readRestriction } from '../../service/restriction.ts'
import { declareIndexes } from '../../service/sorting.ts'
import { TokenStore } from '../../service/token-store.ts'
import { WebhookStore } from '../../service/webhook-store.ts'
import { AccessTokens } from '../auth/access-tokens.ts'
import { issuerKeys } from '../auth/issuer-keys.ts'
import { type Config, storeOptions } from '../config/config.ts'
import { requireConsistency } from '../config/consistency.ts'
import { loadExtension } from '../config/own-fields-file.ts'
import type { Faults } from '../faults/load-faults.ts'
import type { Admin } from '../http/admin/admin.ts'
import { type Certificate, loadCertificate } from '../http/sockets/certificate.ts'
import { type Listening, localUrl, toAuthority } from '../http/sockets/listener.ts'
import { createLog, createProblemLog } from '../observing/log.ts'
import { locateDatabase, openStore } from '../stores/engines.ts'
import type { Store, StoreLink } from '../stores/shared/store.ts'
import { isLoopback, toHosts } from '../system/loopback.ts'
import type { HttpServer } from '../threads/http-server.ts'
import { planThreads } from '../threads/thread-plan.ts'
import { prepareSeed } from '../transfer/seed.ts'
import type { WebhookDeliveries } from '../webhooks/webhook-deliveries.ts'
import { connectionsPossible, watchDescriptors } from './descriptors.ts'
import { adoptFields } from './field-adoption.ts'
import { type Access, ensureFirstToken } from './first-token.ts'
import { buildIndexes } from './index-builder.ts'

const UNENCRYPTED =
  'other machines can connect without TLS, which exposes tokens and plants to the network: ' +
  'set --tls-certificate and --tls-key, or allow only a TLS-terminating proxy to reach this port'

const FAULTS = 'requests fail on demand (--faults): only tests may use this store'

export interface RunningService {
  /** The base URL for clients on this machine, such as `http://127.0.0.1:3000`. */
  readonly url: string
  /** The base URL of metrics and health checks; undefined if the configuration has no `adminPort`. */
  readonly adminUrl: string | undefined
  readonly access: Access
  /** Undefined for plain HTTP. */
  readonly certificate: Certificate | undefined
  /** See StoreAdvice. Undefined if there is nothing to report, as on SQLite. */
  readonly acknowledgement: string | undefined
  /** At the start. */
  readonly restriction: Restriction | undefined
  /** For the operator: how the service differs from what the configuration asks for. */
  readonly warning: string | undefined
  /** Undefined unless the configuration has `faults`. */
  readonly faults: Faults | undefined
  /**
   * Stops accepting connections, finishes the requests in flight and closes the store. Cuts off requests that exceed
   * `shutdownTimeout`, and deliveries to webhooks, which the next start repeats. Further calls return the same promise.
   */
  close(): Promise<void>
}

/**
 * Starts the service. It handles no signals and prints nothing except its log, so it can share a process with other
 * code. Resolves once it listens. If it throws, the service is stopped and the store closed.
 *
 * If a thread of the service ends unexpectedly, throws a ThreadFailure as an uncaught exception.
 *
 * @param seeding interrupts the import of a seed; see Seeder
 * @throws ConfigError, FileError, ContractError, StoreError, StoreUnavailable, or the system's error if the address is unavailable
 */
export async function start(config: Config, seeding?: AbortSignal): Promise<RunningService> {
  requireConsistency(config)
  const extension = await loadExtension(config.contract)
  const fields = extension?.fields
  const contract = extendContract(loadContract(), fields ?? [], extension?.sortable)
  const log = await createLog(config)
  const certificate = await loadCertificate(config)
  const seedStore = await prepareSeed(contract, config.seed)
  const faults = await prepareFaults(config, contract, log)
  const onProblem = createProblemLog(log)
  const store = await openStore({ ...storeOptions(config), onProblem })
  let preparing: Promise<HttpServer> | undefined
  let admin: Admin | undefined
  let webhooks: WebhookDeliveries | undefined
  const watch = watchDescriptors(onProblem)
  const indexing = new AbortController()
  try {
    const hiddenFields = await adoptFields(store, fields, { hide: config.hideFields })
    logHidden(log, hiddenFields)
    const served = { contract, hiddenFields }
    await declareIndexes(store, sortableMembers(contract))
    await seedStore(store, seeding)
    const { links, warning } = await planThreads(config, store)
    // Meanwhile, the store starts its writer, which the first token needs.
    preparing = prepareHttpServer(config, store, links, log, served, faults)
    // If it fails first, the error is thrown once the token exists.
    preparing.catch(() => {})
    const access = await ensureFirstToken(config, new AccessTokens(new TokenStore(store)))
    const server = await preparing
    const { warnings, acknowledgement } = store.advise()
    for (const each of warnings) log.warn(each)
    webhooks = await startWebhooks(config, store, log, served)
    admin = await prepareAdmin(config, {
      server,
      threads: links.length || 1,
      store,
      log,
      webhooks,
      faults,
    })
    const close = closeOnce({ server, store, admin, log, webhooks, watch, indexing })
    // Listens first, so that the service accepts no connections if the admin port is unavailable.
    const adminAddress = await admin?.listen()
    const listening = await server.listen({
      hosts: toHosts(config.host),
      port: config.port,
      connectionsPossible: connectionsPossible(
        config.maxConnections,
        links.length || 1,
        (message) => log.warn(message),
      ),
    })
    admin?.setAccepting(true)
    buildIndexes(store, log, onProblem, indexing.signal)
    const adminUrl = adminAddress && localUrl(adminAddress)
    logListening(log, listening, certificate)
    if (adminUrl !== undefined) log.info(`Serving metrics and health checks at ${adminUrl}`)
    return {
      url: localUrl(listening.addresses[0], certificate),
      adminUrl,
      access,
      certificate,
      acknowledgement,
      restriction: await readRestriction(store),
      warning,
      faults,
      close,
    }
  } catch (error) {
    clearInterval(watch)
    indexing.abort()
    await preparing?.then(
      (server) => server.close(),
      () => {},
    )
    await webhooks?.close()
    await store.close()
    await admin?.close()
    throw error
  }
}

function logHidden(log: FastifyBaseLogger, fields: readonly string[]): void {
  if (fields.length === 0) return
  log.warn(
    `the contract does not have these fields, so their values are kept and hidden: ${fields.join(', ')}`,
  )
}

/** What a process serves. */
interface ServedContract {
  readonly contract: ContractDocument
  /** See AppOptions. */
  readonly hiddenFields: readonly string[]
}

// No process needs all of the following, so they are imported late.

async function prepareHttpServer(
  config: Config,
  store: Store,
  links: readonly StoreLink[],
  log: FastifyBaseLogger,
  served: ServedContract,
  faults: Faults | undefined,
): Promise<HttpServer> {
  if (links.length === 0) {
    const thread = await import('../threads/http-server.ts')
    return thread.prepareHttpServer({ config, ...served, store, log, faults: faults?.injection })
  }
  const { prepareHttpThreads } = await import('../threads/http-threads.ts')
  const readKeys = issuerKeys(config, log)
  return prepareHttpThreads({ config, ...served, links, readKeys })
}

async function prepareFaults(
  { faults }: Config,
  contract: ContractDocument,
  log: FastifyBaseLogger,
): Promise<Faults | undefined> {
  if (faults === undefined) return undefined
  const { loadFaults } = await import('../faults/load-faults.ts')
  log.warn(FAULTS)
  return loadFaults(faults, contract)
}

async function prepareAdmin(
  { adminPort: address, database }: Config,
  { server, threads, store, log, webhooks, faults }: AdminParts,
): Promise<Admin | undefined> {
  if (address === undefined) return undefined
  const admin = await import('../http/admin/admin.ts')
  return admin.prepareAdmin({
    address,
    log,
    checkReady: server.checkReady,
    engine: 'server' in locateDatabase(database) ? 'postgres' : 'sqlite',
    threads,
    readThreads: server.readMetrics,
    readStore: () => store.metrics(),
    readWebhooks: () => webhooks?.figures() ?? [],
    faultRoutes: faults?.routes(store),
  })
}

/** A database in memory has no webhooks: no other process can add them. */
async function startWebhooks(
  { database, allowPrivateWebhooks: allowPrivate, keepChanges }: Config,
  store: Store,
  log: FastifyBaseLogger,
  { contract, hiddenFields }: ServedContract,
): Promise<WebhookDeliveries | undefined> {
  if ('memory' in locateDatabase(database)) return undefined
  const { WebhookDeliveries } = await import('../webhooks/webhook-deliveries.ts')
  const codec = new PlantCodec(plantMembers(contract), hiddenFields)
  const webhooks = new WebhookStore(store)
  return new WebhookDeliveries({ store, webhooks, log, codec, allowPrivate, keepChanges })
}

function logListening(
  log: FastifyBaseLogger,
  { addresses, unavailable }: Listening,
  certificate: Certificate | undefined,
): void {
  const scheme = certificate === undefined ? 'http' : 'https'
  for (const address of addresses) {
    log.info(`Server listening at ${scheme}://${toAuthority(address)}`)
  }
  for (const reason of unavailable) log.warn(`not listening at ${reason}`)
  const isRemote = addresses.some(({ address }) => !isLoopback(address))
  if (isRemote && certificate === undefined) log.warn(UNENCRYPTED)
}

interface AdminParts {
  readonly server: HttpServer
  readonly store: Store
  readonly threads: number
  readonly log: FastifyBaseLogger
  readonly webhooks: WebhookDeliveries | undefined
  readonly faults: Faults | undefined
}

interface Parts {
  readonly server: HttpServer
  readonly store: Store
  readonly admin: Admin | undefined
  readonly log: FastifyBaseLogger
  readonly webhooks: WebhookDeliveries | undefined
  readonly watch: NodeJS.Timeout
  readonly indexing: AbortController
}

/**
 * Returns a function that closes the server and stops the webhooks, then closes the store, then the admin server, so
 * that operators can observe the stop.
 */
function closeOnce({
  server,
  store,
  admin,
  log,
  webhooks,
  watch,
  indexing,
}: Parts): () => Promise<void> {
  let closed: Promise<void> | undefined
  const close = async () => {
    log.info('stopping')
    admin?.setAccepting(false)
    clearInterval(watch)
    indexing.abort()
    await Promise.all([server.close(), webhooks?.close()])
    await store.close()
    await admin?.close()
    log.info('stopped')
  }
  return () => {
    closed ??= close()
    return closed
  }
}
