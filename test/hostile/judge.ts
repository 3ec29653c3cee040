import { extendContract, loadContract } from '../../core/contract/contract.ts'
import { OWN_FIELDS } from '../helpers/plants/nursery.ts'
import { answerCheck, contract } from '../helpers/service/contract-check.ts'
import type { Response } from './responses.ts'

interface Asked {
  readonly method: string
  readonly path: string
}

/** Paths with JSON that the contract does not document. */
const OPEN_JSON = ['/health/live', '/health/ready', '/documentation/json']

const OPERATIONS = Object.entries(contract.paths).flatMap(([template, item]) =>
  Object.keys(item)
    .filter((name) => /^(get|put|post|delete|patch)$/.test(name))
    .flatMap((name) => (name === 'get' ? ['get', 'head'] : [name]))
    .map((name) => ({ method: name.toUpperCase(), path: template.replace(/\{.*?\}/g, '4') })),
)

/** Requests that cover every documented response, also of paths outside all operations. */
const ANY: readonly Asked[] = [
  ...OPERATIONS,
  { method: 'OPTIONS', path: '/plants' },
  { method: 'DELETE', path: '/plants' },
  { method: 'GET', path: '/nothing' },
  { method: 'HEAD', path: '/nothing' },
]

/** Errors for paths below the docs have the headers of the docs. */
const REFUSED = [...ANY, { method: 'GET', path: '/documentation/nothing' }]

/** Statuses sent before the request head is complete, so they carry content even for HEAD. */
const UNREAD = [400, 408, 431]

/** Checks a response against the contract, whether or not the service has own fields. */
export const checkAnswer = answerCheck(extendContract(loadContract(), OWN_FIELDS))

/** Checks responses against the contract, including responses to requests too broken to identify. */
export class Judge {
  readonly #openJson: ReadonlySet<string>

  /** @param openJson content that is served without a token, if a response may be such content */
  constructor(openJson: ReadonlySet<string> = new Set()) {
    this.#openJson = openJson
  }

  /** Fetches the content that is served without a token from a service that is not under attack yet. */
  static async make(port: number): Promise<Judge> {
    const bodies = OPEN_JSON.map(async (path) =>
      (await fetch(`http://127.0.0.1:${port}${path}`)).text(),
    )
    return new Judge(new Set(await Promise.all(bodies)))
  }

  /**
   * @param asked the request; if it is unknown, any response that the contract documents is accepted
   * @returns what is wrong with the response, if anything is
   */
  faultOf(response: Response, asked?: Asked): string | undefined {
    const { status, body } = response
    if (status === 500) return `500: ${body}`
    if (asked === undefined && this.#isOpen(response)) return undefined
    const isUnread = asked?.method === 'HEAD' && body.length > 0 && UNREAD.includes(status)
    const known = isUnread ? { ...asked, method: 'GET' } : asked
    let first: unknown
    for (const { method, path } of known ? [known] : status < 400 ? ANY : REFUSED) {
      try {
        checkAnswer(method, path, { ...response, body: body.toString() })
        return undefined
      } catch (error) {
        first ??= error
      }
    }
    return (first as Error).message
  }

  /** Whether the response is one that needs no token: a file of the docs, health, or their 304. */
  #isOpen({ status, headers, body }: Response): boolean {
    const { 'content-type': type = '', 'content-encoding': encoding } = headers
    const isFile = !/json|event-stream/.test(type) || encoding !== undefined
    return status < 400 && (isFile || this.#openJson.has(body.toString()))
  }
}
