import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { Config } from '../../config/config.ts'
import { ApiError } from '../api-error.ts'
import { DOCS_PATH } from '../docs/docs.ts'
import { addVary } from '../operations/response-headers.ts'
import { preferredType } from '../request/accept.ts'
import { logOf } from '../request/request-log.ts'
import { compressFile, type StaticFile, type StaticFiles } from '../static-file.ts'
import { bundlePage, DOCUMENT, ENTRY, PAGE_FOLDER } from './bundle.ts'
import { addSettings, type SignInSettings } from './page-settings.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Browsers prefer the second. Other clients usually accept everything, and so get the first. */
const ROOT_TYPES = ['application/json', 'text/html'] as const

/** How long a failure lasts, so that requests cannot start one process after another, or fill the log. */
const RETRY_MS = 1000

/**
 * Serves the root: the page for browsers, and a redirect to the docs for other clients. If there is only one of the
 * two, all clients get it.
 */
export function serveRoot(app: FastifyInstance, files: StaticFiles, config: Config): void {
  const { page, docs } = config
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config: { open: true }, handler })
  const redirect = (reply: FastifyReply) => reply.redirect(`.${DOCS_PATH}`)
  if (!page) {
    if (docs) get('/', (_request, reply) => redirect(reply))
    return
  }

  let document: Promise<StaticFile> | undefined
  const sendDocument = async (request: FastifyRequest, reply: FastifyReply) => {
    const known = await load(request)
    document ??= configure(known.get(DOCUMENT) as StaticFile, config)
    return reply.send(files.respond(request, reply, await document))
  }
  get('/', (request, reply) => {
    if (docs) {
      addVary(reply, 'Accept')
      if (preferredType(request.headers, ROOT_TYPES) !== 'text/html') return redirect(reply)
    }
    return sendDocument(request, reply)
  })
  get('/page/*', async (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    const file = name === DOCUMENT ? undefined : (await load(request)).get(name)
    if (file === undefined) return reply.callNotFound()
    return reply.send(files.respond(request, reply, file))
  })
}

/** Adds what the page needs to know about the service to its document, and lets it call the issuer, if there is one. */
function configure({ type, identity }: StaticFile, config: Config): Promise<StaticFile> {
  const signIn = signInSettings(config)
  const html = addSettings(Buffer.from(identity).toString(), { docs: config.docs, signIn })
  return compressFile(type, Buffer.from(html), signIn && [new URL(signIn.issuer).origin])
}

function signInSettings(config: Config): SignInSettings | undefined {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcClientId: clientId } = config
  if (issuer === undefined || audience === undefined || clientId === undefined) return undefined
  return { issuer, clientId, audience, scopes: [config.oidcReadScope, config.oidcWriteScope] }
}

/** The files by name, which all applications of a thread share. */
let loading: Promise<ReadonlyMap<string, StaticFile>> | undefined

/** @throws ApiError if they cannot be loaded */
function load(request: FastifyRequest): Promise<ReadonlyMap<string, StaticFile>> {
  loading ??= loadPage().catch((error) => {
    logOf(request).error({ err: error }, 'the page cannot be loaded')
    setTimeout(() => {
      loading = undefined
    }, RETRY_MS).unref()
    throw new ApiError('internal-error', "the page cannot be loaded: see the service's log")
  })
  return loading
}

/**
 * Reads the files of the page if a folder contains the built ones, as in the package. Otherwise, bundles the page.
 *
 * @returns the files by name
 */
export async function loadPage(folder = PAGE_FOLDER): Promise<ReadonlyMap<string, StaticFile>> {
  const isBuilt = existsSync(new URL(ENTRY, folder))
  const contents = isBuilt ? await readFolder(folder) : await bundlePage()
  const files = Array.from(contents, async ([name, content]) => {
    const type = TYPES[extname(name)] as string
    return [name, await compressFile(type, content)] as const
  })
  return new Map(await Promise.all(files))
}

async function readFolder(folder: URL): Promise<Map<string, Uint8Array>> {
  const names = await readdir(folder)
  const files = names.map(async (name) => [name, await readFile(new URL(name, folder))] as const)
  return new Map(await Promise.all(files))
}
