/** The files of @fastify/swagger-ui. Import this module on demand, because it takes time and memory to load. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify from 'fastify'
import type { ContractDocument } from '../../../contract/contract.ts'
import type { File } from './cached-file.ts'
import { plantStorePage, prepareRequest } from './docs-page.ts'

/** Without it, phones lay out the page for a desktop screen and shrink it to a third. */
const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'

/**
 * Sets up Swagger UI for a contract in an application that never listens.
 *
 * @param prefix the path of the page
 * @returns a function that reads the file at a path, which must exist
 */
export async function openDocs(
  document: ContractDocument,
  prefix: string,
): Promise<(path: string) => Promise<File>> {
  const app = Fastify()
  const specification = { document } as unknown as StaticDocumentSpec
  await app.register(swagger, { mode: 'static', specification })
  await app.register(swaggerUi, {
    routePrefix: prefix,
    // Relative, so that the page finds its files even if a proxy strips a prefix.
    indexPrefix: '.',
    theme: {
      title: document.info.title,
      css: [readAsset('docs.css')],
      favicon: [{ ...readAsset('docs.svg'), rel: 'icon', type: 'image/svg+xml', sizes: 'any' }],
    },
    // Swagger UI's logo has no alternative text. The stylesheet and the plugin replace it.
    logo: null as never,
    uiConfig: {
      plugins: [plantStorePage],
      syntaxHighlight: { theme: 'obsidian' },
      defaultModelsExpandDepth: 0,
      persistAuthorization: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      requestInterceptor: prepareRequest,
    },
  })
  return async (path) => {
    const { statusCode, headers, rawPayload } = await app.inject(path)
    assert.equal(statusCode, 200, `cannot read ${path}`)
    const type = String(headers['content-type'])
    const content = type.startsWith('text/html') ? withViewport(rawPayload) : rawPayload
    return { type, content }
  }
}

function withViewport(html: Buffer): Buffer {
  return Buffer.from(html.toString().replace('<head>', `<head>${VIEWPORT}`))
}

/** Reads a file next to this one. */
function readAsset(filename: string): { filename: string; content: string } {
  return { filename, content: readFileSync(new URL(filename, import.meta.url), 'utf8') }
}
