import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { DOCS_PATH } from '../docs/docs.ts'
import { addVary } from '../operations/response-headers.ts'
import { preferredType } from '../request/accept.ts'
import { compressFile, type StaticFile, type StaticFiles } from '../static-file.ts'
import { bundlePage, DOCUMENT, PAGE_FOLDER } from './bundle.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Browsers prefer the second. Other clients usually accept everything, and so get the first. */
const ROOT_TYPES = ['application/json', 'text/html'] as const

/**
 * Serves the root: the page for browsers, and a redirect to the docs for other clients. If there is only one of the
 * two, all clients get it.
 */
export function serveRoot(
  app: FastifyInstance,
  files: StaticFiles,
  { page, docs }: { readonly page: boolean; readonly docs: boolean },
): void {
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config: { open: true }, handler })
  const redirect: RouteHandlerMethod = (_request, reply) => reply.redirect(`.${DOCS_PATH}`)
  if (!page) {
    if (docs) get('/', redirect)
    return
  }

  let loading: Promise<ReadonlyMap<string, StaticFile>> | undefined
  const load = () => {
    loading ??= loadPage().catch((error) => {
      // The next request tries again.
      loading = undefined
      throw error
    })
    return loading
  }
  const send = async (name: string, request: FastifyRequest, reply: FastifyReply) => {
    const file = (await load()).get(name)
    if (file === undefined) return reply.callNotFound()
    return reply.send(files.respond(request, reply, file))
  }
  get('/', function (request, reply) {
    addVary(reply, 'Accept')
    if (docs && preferredType(request.headers, ROOT_TYPES) !== 'text/html') {
      return redirect.call(this, request, reply)
    }
    return send(DOCUMENT, request, reply)
  })
  get('/page/*', (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    return name === DOCUMENT ? reply.callNotFound() : send(name, request, reply)
  })
}

/** Reads the files that the package contains. In a checkout, there are only their sources. */
async function loadPage(): Promise<ReadonlyMap<string, StaticFile>> {
  const isBuilt = existsSync(new URL('main.js', PAGE_FOLDER))
  const contents = isBuilt ? await readBuilt() : await bundlePage()
  const files = Array.from(contents, async ([name, content]) => {
    const type = TYPES[extname(name)] as string
    return [name, await compressFile(type, content)] as const
  })
  return new Map(await Promise.all(files))
}

async function readBuilt(): Promise<Map<string, Uint8Array>> {
  const names = await readdir(PAGE_FOLDER)
  const files = names.map(
    async (name) => [name, await readFile(new URL(name, PAGE_FOLDER))] as const,
  )
  return new Map(await Promise.all(files))
}
