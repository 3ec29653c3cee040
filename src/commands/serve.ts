import type { AddressInfo } from 'node:net'
import { AccessTokens } from '../../service/access-tokens.ts'
import { buildApp } from '../app.ts'
import type { Config } from '../config.ts'
import { openStore } from '../stores/open.ts'
import { provideAccess } from './access-file.ts'
import { greeting } from './greeting.ts'
import { stopOnSignal } from './signals.ts'

/** Connections that may come at once, before any is accepted; a system may allow fewer. */
const BACKLOG = 4096

/** Serves until a signal says stop. Resolves when it listens, and has said so on standard output. */
export async function serve(config: Config): Promise<void> {
  const store = await openStore(config)
  try {
    const access = await provideAccess(config, new AccessTokens(store, config.token))
    const app = await buildApp({ config, store, logger: await logger(config) })
    stopOnSignal(app, store, config.shutdownTimeout)
    await app.listen({ host: config.host, port: config.port, backlog: BACKLOG })
    process.stdout.write(greeting(config, app.server.address() as AddressInfo, access))
  } catch (error) {
    await store.close()
    throw error
  }
}

/** JSON lines on standard error, put readably where a person looks at them. */
async function logger({ logLevel }: Config) {
  if (!process.stderr.isTTY) return { level: logLevel, stream: process.stderr }
  const { default: pretty } = await import('pino-pretty')
  return { level: logLevel, stream: pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }) }
}
