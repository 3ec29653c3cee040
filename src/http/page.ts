import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { type ContractDocument, plantMembers } from '../../core/contract/contract.ts'
import { PACKAGE } from '../../core/package.ts'
import { addSettings, type SignInSettings } from '../../core/page-settings.ts'
import { shareResult } from '../../core/time/shared-result.ts'
import type { Config } from '../config/config.ts'
import { DOCS_PATH } from './docs/docs.ts'
import { preferredType } from './responses/accept.ts'
import { DOCUMENT, isBuilt, readBuilt } from './responses/built-files.ts'
import { addVary } from './responses/response.ts'
import { compressFile, type StaticFile, type StaticFiles } from './responses/static-file.ts'

/** What `npm run page` builds. */
const PAGE_FOLDER = new URL('dist/page/', PACKAGE)

/** Browsers prefer the second. Other clients usually accept everything, and so get the first. */
const ROOT_TYPES = ['application/json', 'text/html'] as const

/**
 * Serves the root: the page for browsers, and a redirect to the docs for other clients. If there is only one of the
 * two, all clients get it.
 */
export function serveRoot(
  app: FastifyInstance,
  files: StaticFiles,
  config: Config,
  contract: ContractDocument,
): void {
  const { page, docs } = config
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config: { open: true }, handler })
  const redirect = (reply: FastifyReply) => reply.redirect(`.${DOCS_PATH}`)
  if (!page) {
    if (docs) get('/', (_request, reply) => redirect(reply))
    return
  }

  // If it cannot be read, as for lack of descriptors, the next request tries again.
  const read = shareResult(() => loadPage(config, contract))
  let pageFiles: ReadonlyMap<string, StaticFile> | undefined
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string) => {
    pageFiles ??= await read()
    const file = pageFiles.get(name)
    if (file === undefined) return reply.callNotFound()
    return reply.send(files.respond(request, reply, file))
  }
  get('/', (request, reply) => {
    if (docs) {
      addVary(reply, 'Accept')
      if (preferredType(request.headers, ROOT_TYPES) !== 'text/html') return redirect(reply)
    }
    return send(request, reply, DOCUMENT)
  })
  get('/page/*', (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    return name === DOCUMENT ? reply.callNotFound() : send(request, reply, name)
  })
}

export function isPageBuilt(): boolean {
  return isBuilt(PAGE_FOLDER)
}

/**
 * Reads the built page.
 *
 * @returns the files by name; the document has the settings
 * @throws ApiError if the page is not built
 */
export async function loadPage(
  config: Config,
  contract: ContractDocument,
  folder = PAGE_FOLDER,
): Promise<ReadonlyMap<string, StaticFile>> {
  return readBuilt('the page is', folder, (name, content, type) =>
    name === DOCUMENT
      ? configure(String(content), type, config, contract)
      : compressFile(type, content),
  )
}

/** Adds what the page needs to know about the service to its document, and lets it call the issuer, if there is one. */
function configure(
  document: string,
  type: string,
  config: Config,
  contract: ContractDocument,
): Promise<StaticFile> {
  const signIn = signInSettings(config)
  const fields = plantMembers(contract).filter(({ schema, isSortable }) => schema ?? isSortable)
  const html = addSettings(document, { docs: config.docs, signIn, fields })
  return compressFile(type, Buffer.from(html), signIn && [new URL(signIn.issuer).origin])
}

function signInSettings(config: Config): SignInSettings | undefined {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcClientId: clientId } = config
  if (issuer === undefined || audience === undefined || clientId === undefined) return undefined
  return { issuer, clientId, audience, scopes: [config.oidcReadScope, config.oidcWriteScope] }
}
