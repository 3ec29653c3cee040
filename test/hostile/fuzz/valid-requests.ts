/** Valid requests, generated from the contract so that new operations are fuzzed as well. */
import { extendContract, loadContract } from '../../../core/contract/contract.ts'
import { contentVersion } from '../../../service/store/content-version.ts'
import { OWN_FIELDS } from '../../helpers/plants/nursery.ts'
import { dereference } from '../../helpers/service/contract-check.ts'
import { TOKEN } from '../target.ts'
import type { Random } from './random.ts'
import type { Header, Request } from './request.ts'

interface Schema {
  type?: string | string[]
  format?: string
  allOf?: Schema[]
  oneOf?: Schema[]
  enum?: (string | null)[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  minimum?: number
  maximum?: number
  examples?: string[]
}

interface Parameter {
  name: string
  in: string
  schema: Schema
}

interface Operation {
  operationId?: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

type Paths = Record<string, Record<string, Operation>>

const contract = dereference(extendContract(loadContract(), OWN_FIELDS))

const operations = Object.entries(contract.paths as unknown as Paths).flatMap(([template, item]) =>
  Object.entries(item)
    .filter(([, { operationId }]) => operationId !== undefined)
    .map(([method, operation]) => ({ method: method.toUpperCase(), template, ...operation })),
)

/** Paths outside the contract. */
const OTHERS = [
  ...'/ /page/main.js /page/nothing /health/live /health/ready /nothing /plants/4/5'.split(' '),
  ...'/documentation /documentation/ /documentation/json /documentation/yaml'.split(' '),
  ...['index.css', 'swagger-initializer.js', 'theme/docs.css', 'nothing.js'].map(
    (file) => `/documentation/static/${file}`,
  ),
]

/** By far the largest file, so it is requested rarely. */
const BUNDLE = '/documentation/static/swagger-ui-bundle.js'

const IDS = 300
const EXTREMES = [2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 0n, -1n]

const LONG = 300

/** Cursors of no database, one of them too short. */
const CURSORS = [Buffer.alloc(22, 'x').toString('base64url'), 'AAAA']

/** Few values, so that entity tags often match stored plants. */
const NAMES = ['Abies alba Mill.', 'Acer', '', '\u{1f332} \u202e\u00fc', 'x'.repeat(LONG)]
const TAGS = ['Tree', '', undefined]

const ENTITY_TAGS = [
  '*',
  '"nothing"',
  'W/"weak"',
  '"one", W/"two" , "three"',
  ...NAMES.flatMap((name) => TAGS.map((tag) => contentVersion({ name, ...(tag && { tag }) }))).map(
    (version) => `"${version}"`,
  ),
]

/** Strings with the formats of own fields. */
const FORMATTED: Readonly<Record<string, string>> = {
  date: '2024-02-29',
  uri: 'https://example.com/?a=1#b',
}

/** Generates a valid request. */
export function validRequest(random: Random): Request {
  if (random.oneIn(10)) return otherRequest(random)
  const { method, template, parameters = [], requestBody } = random.pick(operations)
  const headers: Header[] = [
    ['Host', 'x'],
    ['Authorization', `Bearer ${TOKEN}`],
  ]
  let target = template
  const query: string[] = []
  for (const { name, in: place, schema } of parameters) {
    const isTag = name.startsWith('If-')
    const value = isTag ? random.pick(ENTITY_TAGS) : parameterText(schema, random)
    if (place === 'path') target = target.replace(`{${name}}`, value)
    else if (random.below(3) > 0) continue
    else if (place === 'query') query.push(`${name}=${encodeURIComponent(value)}`)
    else headers.push([name, value])
  }
  if (query.length > 0) target += `?${query.join('&')}`
  const [type, { schema } = {}] = random.pick(Object.entries(requestBody?.content ?? { '': {} }))
  if (schema === undefined) {
    const isRead = method === 'GET' && random.oneIn(5)
    const isStream = template === '/changes' && random.oneIn(10)
    if (isStream) headers.push(['Accept', 'text/event-stream'])
    return requestOf({ method: isRead ? 'HEAD' : method, target, headers })
  }
  headers.push(['Content-Type', type])
  return requestOf({ method, target, headers, body: inBytes(jsonText(schema, random)) })
}

function otherRequest(random: Random): Request {
  const target = random.oneIn(100) ? BUNDLE : random.pick(OTHERS)
  const headers: Header[] = [['Host', 'x']]
  if (random.oneIn(2)) headers.push(['Authorization', `Bearer ${TOKEN}`])
  if (random.oneIn(2))
    headers.push(['Accept-Encoding', random.pick(['gzip', 'br', 'gzip, br', '*'])])
  if (random.oneIn(2)) headers.push(['Accept', random.pick(['text/html', 'text/html, */*;q=0.8'])])
  return requestOf({ target, headers })
}

export function requestOf(parts: Partial<Request>): Request {
  return { method: 'GET', target: '/', version: 'HTTP/1.1', headers: [], body: '', ...parts }
}

/** Characters that stand for the bytes of UTF-8. */
function inBytes(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function idOf(random: Random): string {
  return String(random.oneIn(10) ? random.pick(EXTREMES) : random.below(IDS))
}

function parameterText(schema: Schema, random: Random): string {
  const { type, items, minimum, maximum, examples = [] } = schema
  if (items !== undefined) return parameterText(items, random)
  if (type === 'boolean') return 'true'
  if (type !== 'integer') return random.pick(['Tree', 'x', '', ...examples, ...CURSORS])
  if (minimum === undefined || maximum === undefined) return idOf(random)
  return String(minimum + random.below(random.oneIn(10) ? maximum : 5))
}

function jsonText(schema: Schema, random: Random): string {
  const { allOf, oneOf, items, type, ...own } = schema
  if (oneOf !== undefined) return jsonText(random.pick(oneOf), random)
  if (allOf !== undefined) return jsonText(merged([own, ...allOf]), random)
  if (own.enum !== undefined) return JSON.stringify(random.pick(own.enum))
  const known = random.pick([type].flat())
  if (known === 'integer') return own.format === 'int32' ? String(random.below(20)) : idOf(random)
  if (known === 'number') return random.pick(['0', '24.5', '-0', '5e-324', '1e308', '1.0'])
  if (known === 'boolean') return random.pick(['true', 'false'])
  if (known === 'string' && own.format !== undefined) return JSON.stringify(FORMATTED[own.format])
  if (known === 'string') return JSON.stringify(random.pick([...NAMES, 'Tree']))
  if (known === 'null') return 'null'
  if (known === 'array' && items !== undefined) {
    return `[${Array.from({ length: 1 + random.below(5) }, () => jsonText(items, random))}]`
  }
  const { properties = {}, required = [] } = schema
  const allowed = Object.keys(properties).filter(
    (name) => required.includes(name) || random.oneIn(2),
  )
  const names = allowed.filter((name) => name !== 'ifContent' || !allowed.includes('ifMatch'))
  const members = random
    .shuffled(names)
    .map((name) => `${JSON.stringify(name)}:${memberText(name, properties, random)}`)
  return `{${members}}`
}

function memberText(name: string, properties: Record<string, Schema>, random: Random): string {
  if (name === 'ifMatch')
    return JSON.stringify(random.pick(ENTITY_TAGS.filter((tag) => /^"[^"]*"$/.test(tag))))
  return jsonText(properties[name] as Schema, random)
}

function merged(parts: readonly Schema[]): Schema {
  const whole = parts.map((part) => (part.allOf === undefined ? part : merged(part.allOf)))
  return {
    type: 'object',
    properties: Object.assign({}, ...whole.map(({ properties }) => properties)),
    required: whole.flatMap(({ required = [] }) => required),
  }
}
