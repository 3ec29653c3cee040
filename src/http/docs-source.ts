/** The files of @fastify/swagger-ui. Imported on the first request, because loading it takes time and memory. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify from 'fastify'
import type { ContractDocument } from '../contract/contract.ts'
import type { File } from './cached-file.ts'
import { belowThePage, plantStorePage } from './docs-page.ts'

/** Without this, phones lay the page out for a desktop screen and shrink it to a third. */
const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'

/**
 * Sets up Swagger UI for the contract in an application that never listens.
 *
 * @param prefix the path of the page
 * @returns a function that reads the file at a path and rejects if it cannot
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
    // Relative, so that the page finds its files behind a proxy that strips a prefix.
    indexPrefix: '.',
    theme: {
      title: document.info.title,
      css: [own('docs.css')],
      favicon: [{ ...own('docs.svg'), rel: 'icon', type: 'image/svg+xml', sizes: 'any' }],
    },
    // Swagger UI does not support alternative text for a logo. The stylesheet and the plugin provide one with it.
    logo: null as never,
    uiConfig: {
      plugins: [plantStorePage],
      syntaxHighlight: { theme: 'obsidian' },
      defaultModelsExpandDepth: 0,
      persistAuthorization: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      requestInterceptor: belowThePage,
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

/** A file next to this one. */
function own(filename: string): { filename: string; content: string } {
  return { filename, content: readFileSync(new URL(filename, import.meta.url), 'utf8') }
}
