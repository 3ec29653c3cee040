import { isUtf8 } from 'node:buffer'
import { isScalar, LineCounter, parseDocument, visit } from 'yaml'
import { type ContractExtension, OWN_FIELDS_MAX, type OwnField } from '../../members/own-fields.ts'
import {
  childPlace,
  FieldError,
  isObject,
  readFieldSchema,
  readSortable,
  SORTABLE,
} from './field-schemas.ts'

/** The largest overlay, in bytes. */
export const OVERLAY_BYTES_MAX = 2 ** 16

/** How many nodes aliases can expand to. Schemas that share keywords need far fewer. */
const ALIASES_MAX = 100

/** The patch version has no meaning to tools. */
const VERSION = /^1\.0\.\d+$/

/** What an action can change, as JSONPath (RFC 9535). */
const PLANT = '$.components.schemas.Plant'
const PROPERTIES = `${PLANT}.properties`

/** A name in bracket notation that could be in dot notation. */
const BRACKETS = /\[(?:'(\w+)'|"(\w+)")\]/g

/**
 * Reads what an OpenAPI Overlay (https://spec.openapis.org/overlay/v1.0.0.html) in YAML or JSON declares. Its actions can
 * only add properties to the schema `Plant`, and make the others sortable. As the specification allows, `extends` and extensions have no
 * effect: the overlay is applied to the contract of this package.
 *
 * @param bytes at most OVERLAY_BYTES_MAX: some 1,000 levels of brackets exhaust the stack, which takes a while
 * @throws FieldError naming the first part that is invalid or unsupported
 */
export function readOverlay(bytes: Buffer): ContractExtension {
  if (!isUtf8(bytes)) throw new FieldError('', 'must be in UTF-8')
  const overlay = readRoot(parseYaml(bytes.toString()))
  const fields = new Map<string, OwnField>()
  const sortable = new Set<string>()
  for (const [index, action] of readActions(overlay.actions)) {
    const [place, properties] = readTarget(childPlace('actions', String(index)), action)
    for (const [name, schema] of Object.entries(properties)) {
      if (SORTABLE.includes(name)) {
        if (readSortable(place, name, schema)) sortable.add(name)
        continue
      }
      const own = childPlace(place, name)
      if (fields.has(name)) throw new FieldError(own, 'an earlier action declares this field')
      if (fields.size === OWN_FIELDS_MAX)
        throw new FieldError(own, `there must not be more than ${OWN_FIELDS_MAX} fields`)
      fields.set(name, readFieldSchema(place, name, schema))
    }
  }
  return { fields: [...fields.values()], sortable: [...sortable] }
}

type Members = Readonly<Record<string, unknown>>

/**
 * Parses YAML in linear time. The parser itself describes every error with a copy of its line, and compares every key
 * of a map with all others.
 */
function parseYaml(text: string): unknown {
  const lines = new LineCounter()
  const fail = (reason: string, offset: number) => {
    const { line, col } = lines.linePos(offset)
    throw new FieldError('', `${reason} at line ${line}, column ${col}`)
  }
  const document = parseDocument(text, {
    stringKeys: true,
    prettyErrors: false,
    uniqueKeys: false,
    lineCounter: lines,
  })
  const [error] = document.errors
  if (error !== undefined) fail(error.message, error.pos[0])
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) fail('Map keys must be unique', key.range?.[0] ?? 0)
        seen.add(key.value)
      }
    },
  })
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX })
  } catch (error) {
    throw new FieldError('', (error as Error).message)
  }
}

function readRoot(document: unknown): Members {
  const overlay = checkMembers('', document, ['overlay', 'info', 'extends', 'actions'])
  if (typeof overlay.overlay !== 'string' || !VERSION.test(overlay.overlay))
    throw new FieldError('overlay', 'must be 1.0.0, the version of the specification')
  const info = checkMembers('info', overlay.info, ['title', 'version'])
  checkText('info/title', info.title)
  checkText('info/version', info.version)
  if (overlay.extends !== undefined) checkText('extends', overlay.extends)
  return overlay
}

function readActions(actions: unknown): Iterable<[index: number, action: unknown]> {
  if (!Array.isArray(actions) || actions.length === 0)
    throw new FieldError('actions', 'must be a list of one or more actions')
  return actions.entries()
}

/** Returns the schemas that an action adds, and their place. */
function readTarget(place: string, value: unknown): [place: string, properties: Members] {
  const action = checkMembers(place, value, ['target', 'description', 'update', 'remove'])
  const { target, description, update, remove = false } = action
  if (description !== undefined) checkText(`${place}/description`, description)
  if (remove !== false)
    throw new FieldError(`${place}/remove`, 'must be false: an overlay can only add properties')
  const path = String(target).replace(BRACKETS, '.$1$2')
  const own = `${place}/update`
  if (path === PROPERTIES) return [own, checkObject(own, update)]
  if (path !== PLANT) throw new FieldError(`${place}/target`, `must be ${PLANT} or ${PROPERTIES}`)
  const { properties } = checkNames(own, checkObject(own, update), ['properties'])
  return [`${own}/properties`, checkObject(`${own}/properties`, properties)]
}

/** Checks an object of the specification, all of which can have extensions. */
function checkMembers(place: string, value: unknown, names: readonly string[]): Members {
  const object = checkObject(place, value)
  const own = Object.entries(object).filter(([name]) => !name.startsWith('x-'))
  return checkNames(place, Object.fromEntries(own), names)
}

function checkNames(place: string, object: Members, names: readonly string[]): Members {
  const unknown = Object.keys(object).find((name) => !names.includes(name))
  if (unknown === undefined) return object
  const own = place === '' ? unknown : childPlace(place, unknown)
  throw new FieldError(own, `not supported: expected only ${names.join(', ')}`)
}

function checkObject(place: string, value: unknown): Members {
  if (!isObject(value)) throw new FieldError(place, 'must be an object')
  return value
}

function checkText(place: string, text: unknown): void {
  if (typeof text !== 'string') throw new FieldError(place, 'must be a string')
}
