import { request } from 'node:http'
import { checkAnswer, contract } from '../helpers/contract-check.ts'
import type { Response } from './responses.ts'

/** Requests outside all operations, whose responses the contract documents separately. */
const OUTSIDE = [
  ['OPTIONS', '/plants'],
  ['DELETE', '/plants'],
  ['GET', '/nothing'],
] as const

/** Paths that need no token. */
const OPEN = [
  '/',
  '/health/live',
  '/health/ready',
  '/documentation',
  '/documentation/',
  '/documentation/json',
  '/documentation/yaml',
  '/documentation/static/index.css',
  '/documentation/static/swagger-initializer.js',
  '/documentation/static/swagger-ui-bundle.js',
  '/documentation/static/swagger-ui-standalone-preset.js',
  '/documentation/static/swagger-ui.css',
  '/documentation/static/theme/docs.css',
  '/documentation/static/theme/docs.svg',
]

/** Content codings that the docs may be served in. */
const CODINGS = ['identity', 'gzip', 'br', 'zstd', 'deflate']

const OPERATIONS = Object.entries(contract.paths).flatMap(([template, item]) =>
  Object.keys(item)
    .filter((name) => /^(get|put|post|delete|patch)$/.test(name))
    .map((name) => [name.toUpperCase(), template.replace(/\{.*?\}/g, '4')] as const),
)

/** Requests that cover every documented response. */
const ANY = [
  ...OPERATIONS,
  ...OPERATIONS.filter(([method]) => method === 'GET').map(([, path]) => ['HEAD', path] as const),
  ...OUTSIDE,
  ['HEAD', '/nothing'] as const,
]

/** Errors for paths below the docs have the headers of the docs. */
const REFUSED = [...ANY, ['GET', '/documentation/nothing'] as const]

/** Statuses sent before the request head is complete, so they carry content even for HEAD. */
const UNREAD = [400, 408, 431]

/** Checks responses against the contract, including responses to requests too broken to identify. */
export class Judge {
  /** Content that is served without a token, in every coding. */
  readonly #open: ReadonlySet<string>
  /** Keys of responses that passed before, without the headers that vary. */
  readonly #right = new Set<string>()

  /** @param open content that is served without a token, if a response may be such content */
  constructor(open: ReadonlySet<string> = new Set()) {
    this.#open = open
  }

  /** Fetches the content that is served without a token from a service that is not under attack yet. */
  static async make(port: number): Promise<Judge> {
    const open = new Set<string>()
    for (const path of OPEN) {
      for (const coding of CODINGS) {
        open.add(await rawBody(port, path, coding))
      }
    }
    return new Judge(open)
  }

  /**
   * @param asked the request; if it is unknown, any response that the contract documents is accepted
   * @returns what is wrong with the response, if anything is
   */
  faultOf(response: Response, asked?: { method: string; path: string }): string | undefined {
    const hasContent = asked?.method === 'HEAD' && response.body.length > 0
    const isUnread = hasContent && UNREAD.includes(response.status)
    const request = isUnread ? { ...asked, method: 'GET' } : asked
    if (response.status === 500) return `500: ${response.body}`
    const key = keyOf(response, request)
    if (key !== undefined && this.#right.has(key)) return undefined
    const answer = { ...response, body: response.body.toString() }
    let fault: string | undefined
    try {
      if (request !== undefined) checkAnswer(request.method, request.path, answer)
      else if (!this.#isOpen(response)) checkAny(answer)
    } catch (error) {
      fault = (error as Error).message
    }
    if (fault === undefined && key !== undefined) {
      if (this.#right.size > KNOWN_MAX) this.#right.clear()
      this.#right.add(key)
    }
    return fault
  }

  #isOpen({ status, headers, body }: Response): boolean {
    if (status >= 400) return false
    const isPage = headers['content-type'] !== 'application/json' || status === 304
    return this.#open.has(body.toString('latin1')) || (body.length === 0 && isPage)
  }
}

/** How many responses are remembered, and how long their bodies may be. */
const KNOWN_MAX = 50_000
const KNOWN_BYTES = 500

const VARYING = /^(date|x-request-id|etag): .*$/gim

function keyOf({ head, body }: Response, request?: { method: string; path: string }) {
  if (body.length > KNOWN_BYTES) return undefined
  const { method = '', path = '' } = request ?? {}
  return [method, path, head.replace(VARYING, '$1'), body.toString('latin1')].join('\n')
}

type Checked = Parameters<typeof checkAnswer>[2]

/** @throws Error if the contract documents the response for no request */
function checkAny(answer: Checked): void {
  let last: unknown
  for (const [method, path] of answer.status < 400 ? ANY : REFUSED) {
    try {
      checkAnswer(method, path, answer)
      return
    } catch (error) {
      last ??= error
    }
  }
  throw last
}

/** The body as sent, compressed or not. */
function rawBody(port: number, path: string, coding: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': coding }
    const outgoing = request(
      { host: '127.0.0.1', port, path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
        response.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')))
      },
    )
    outgoing.on('error', reject).end()
  })
}
