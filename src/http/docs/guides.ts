import type { FastifyInstance } from 'fastify'
import { PACKAGE } from '../../../core/package.ts'
import { shareResult } from '../../../core/time/shared-result.ts'
import { DOCUMENT, readBuilt } from '../responses/built-files.ts'
import { compressFile, type StaticFile, type StaticFiles } from '../responses/static-file.ts'

/** What `npm run page` builds. */
const GUIDES_FOLDER = new URL('dist/guides/', PACKAGE)

const EXTENSION = '.html'

/**
 * Serves the guides, which are rendered from `docs/`: a list of them at `path/`, and each guide below it.
 *
 * @param hasPage whether the service serves the page, to which the guides then link
 */
export function serveGuides(
  app: FastifyInstance,
  path: string,
  files: StaticFiles,
  hasPage: boolean,
): void {
  const options = { method: ['GET', 'HEAD'], config: { open: true } }
  // If they cannot be read, as for lack of descriptors, the next request tries again.
  const read = shareResult(() => loadGuides(hasPage), Number.POSITIVE_INFINITY)
  app.route({
    ...options,
    url: path,
    // Relative, so that it works even if a proxy strips a prefix.
    handler: (_request, reply) => reply.redirect(`.${path.slice(path.lastIndexOf('/'))}/`),
  })
  app.route({
    ...options,
    url: `${path}/*`,
    handler: async (request, reply) => {
      const { '*': name } = request.params as { '*': string }
      const file = (await read()).get(name)
      if (file === undefined) return reply.callNotFound()
      return reply.send(files.respond(request, reply, file))
    },
  })
}

/** Reads the built guides. The list has the name '', and the others have no extension. */
async function loadGuides(hasPage: boolean): Promise<ReadonlyMap<string, StaticFile>> {
  const built = await readBuilt('the guides are', GUIDES_FOLDER, (name, content, type) =>
    compressFile(type, hasPage && name.endsWith(EXTENSION) ? linkToPage(content) : content),
  )
  const toPath = (name: string) => (name === DOCUMENT ? '' : name.replace(EXTENSION, ''))
  return new Map([...built].map(([name, file]) => [toPath(name), file]))
}

/** Adds a link to the page to the first menu of a guide. */
function linkToPage(guide: Buffer): Buffer {
  const link = ' <a href="../../">Plants</a>'
  return Buffer.from(String(guide).replace('</nav>', (end) => link + end))
}
