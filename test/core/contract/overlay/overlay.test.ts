import t from 'tap'
import { stringify } from 'yaml'
import { FieldError } from '../../../../core/contract/overlay/field-schemas.ts'
import { readOverlay } from '../../../../core/contract/overlay/overlay.ts'

function load(content: string | Buffer) {
  return readOverlay(Buffer.from(content)).fields
}

const PLANT = '$.components.schemas.Plant'
const height = { type: 'integer', format: 'int32', minimum: 0, description: 'In centimetres.' }
const light = { type: 'string', enum: ['sun', 'shade'] }

interface Overlay {
  readonly [name: string]: unknown
}

/** A valid overlay with some changes. */
function overlay(changes: Overlay): Overlay {
  return {
    overlay: '1.0.0',
    info: { title: 'Our plants', version: '1' },
    actions: [{ target: PLANT, update: { properties: { height } } }],
    ...changes,
  }
}

const FIELDS = [
  { name: 'height', schema: height },
  { name: 'light', schema: light },
]

t.test('an overlay can be YAML', async (t) => {
  const fields = load(`
overlay: 1.0.0
info: { title: Our plants, version: 2026-11-25, x-owner: gardeners }
extends: https://example.com/openapi.yaml
x-note: [1]
actions:
  - target: ${PLANT}
    description: How plants look.
    x-note: true
    update:
      properties:
        height:
          type: integer
          format: int32
          minimum: 0
          description: In centimetres.
  - target: ${PLANT}.properties
    remove: false
    update:
      light: { type: string, enum: [sun, shade] }
`)
  t.strictSame(fields, FIELDS)
})

t.test('an overlay can be JSON, with a byte order mark', async (t) => {
  const json = JSON.stringify(overlay({ 'x-note': '🌲' }), undefined, '\t')
  t.strictSame(load(`\ufeff${json.replace('🌲', '\\ud83c\\udf32')}`), FIELDS.slice(0, 1))
})

t.test('a target can be in dot or bracket notation', async (t) => {
  for (const target of [
    PLANT,
    "$['components']['schemas']['Plant']",
    '$["components"].schemas[\'Plant\']',
  ]) {
    const update = { properties: { height } }
    t.strictSame(load(stringify(overlay({ actions: [{ target, update }] }))), FIELDS.slice(0, 1))
    for (const properties of ['.properties', "['properties']"]) {
      const actions = [{ target: `${target}${properties}`, update: { height } }]
      t.strictSame(load(stringify(overlay({ actions }))), FIELDS.slice(0, 1))
    }
  }
})

const OVERLAY = 'not supported: expected only overlay, info, extends, actions'
const ACTION = 'not supported: expected only target, description, update, remove'
const TARGET = `must be ${PLANT} or ${PLANT}.properties`
const REMOVE = 'must be false: an overlay can only add properties'
const VERSION = 'must be 1.0.0, the version of the specification'
const target = PLANT

const invalid: readonly [changes: Overlay, place: string, reason: string][] = [
  [{ components: {} }, 'components', OVERLAY],
  [{ overlay: '1.1.0' }, 'overlay', VERSION],
  [{ overlay: ['1.0.0'] }, 'overlay', VERSION],
  [{ overlay: undefined }, 'overlay', VERSION],
  [{ info: undefined }, 'info', 'must be an object'],
  [{ info: { version: '1' } }, 'info/title', 'must be a string'],
  [{ info: { title: 'x', version: 1 } }, 'info/version', 'must be a string'],
  [
    { info: { title: 'x', version: '1', summary: 'x' } },
    'info/summary',
    'not supported: expected only title, version',
  ],
  [{ extends: null }, 'extends', 'must be a string'],
  [{ actions: [] }, 'actions', 'must be a list of one or more actions'],
  [{ actions: { target } }, 'actions', 'must be a list of one or more actions'],
]

const invalidActions: readonly [action: unknown, place: string, reason: string][] = [
  [null, '', 'must be an object'],
  [{ target, copy: '$.info' }, '/copy', ACTION],
  [{ target, 'a/b': 1 }, '/a~1b', ACTION],
  [{ target, description: 1, update: {} }, '/description', 'must be a string'],
  [{ target, remove: true }, '/remove', REMOVE],
  [{ update: {} }, '/target', TARGET],
  ...[
    '$',
    '$.info',
    '$.components.schemas.NewPlant',
    '$.components.schemas.*',
    `${PLANT}.properties.name`,
    "$['components.schemas'].Plant",
    "$.components['schemas']Plant",
    "$.components.schemas['Plant'",
    '$.components.schemas[\'Plant"]',
    "$.components.schemas[?@.title=='Plant']",
  ].map((each): [unknown, string, string] => [
    { target: each, update: { properties: { height } } },
    '/target',
    TARGET,
  ]),
  [{ target, update: [] }, '/update', 'must be an object'],
  [{ target, update: {} }, '/update/properties', 'must be an object'],
  [
    { target, update: { properties: {}, required: ['height'] } },
    '/update/required',
    'not supported: expected only properties',
  ],
  [
    { target, update: { properties: { tag: { maxLength: 5 } } } },
    '/update/properties/tag/maxLength',
    'not supported: tag can only have x-sortable',
  ],
  [
    { target, update: { properties: { name: { 'x-sortable': 1 } } } },
    '/update/properties/name/x-sortable',
    'must be true or false',
  ],
  [
    { target, update: { properties: { '-x': { type: 'string', 'x-sortable': true } } } },
    '/update/properties/-x/x-sortable',
    'must not be true for a name that begins with -, which reverses the order',
  ],
  [
    { target, update: { properties: { 'a/b': { type: 'array' } } } },
    '/update/properties/a~1b/type',
    'must be string, integer, number or boolean',
  ],
  [
    { target: `${PLANT}.properties`, update: { height } },
    '/update/height',
    'an earlier action declares this field',
  ],
]

t.test('an overlay that does anything else is refused with the place and the reason', async (t) => {
  const [first] = overlay({}).actions as unknown[]
  const actions = invalidActions.map(
    ([action, place, reason]) =>
      [{ actions: [first, action] }, `actions/1${place}`, reason] as const,
  )
  for (const [changes, place, reason] of [...invalid, ...actions])
    t.throws(() => load(stringify(overlay(changes))), {
      constructor: FieldError,
      message: `${place}: ${reason}`,
    })
})

t.test('a name of a property that objects inherit is not overlooked', async (t) => {
  const json = JSON.stringify(overlay({}))
  t.throws(() => load(json.replace('"height"', '"__proto__"')), {
    message: 'actions/0/update/properties/__proto__: this name is reserved',
  })
  t.match(load(json.replace('"height"', '"constructor"')), [{ name: 'constructor' }])
})

t.test('a document that is not valid YAML is refused with the line', async (t) => {
  for (const [text, message] of [
    ['', 'must be an object'],
    ['overlay: 1.0.0\noverlay: 1.0.0', 'Map keys must be unique at line 2, column 1'],
    ['overlay: *x', 'Unresolved alias (the anchor must be set before the alias): x'],
    [
      `overlay: &a [x]\ninfo: [${'*a, '.repeat(101)}]`,
      'Excessive alias count indicates a resource exhaustion attack',
    ],
    ['? [overlay]\n: 1.0.0', 'With stringKeys, all keys must be strings at line 1, column 3'],
  ] as const)
    t.throws(() => load(text), { constructor: FieldError, message }, text)
})

t.test('schemas can share keywords through aliases', async (t) => {
  const fields = load(`
overlay: 1.0.0
info: { title: x, version: '1' }
actions:
  - target: ${PLANT}.properties
    update:
      light: &light { type: string, enum: [sun, shade] }
      winterLight: *light
`)
  t.strictSame(fields, [
    { name: 'light', schema: light },
    { name: 'winterLight', schema: light },
  ])
})

t.test('only the first of thousands of mistakes is reported', async (t) => {
  const commas = `[${','.repeat(5000)}`
  t.throws(() => load(commas), { message: 'Unexpected , in flow sequence at line 1, column 3' })
  const keys = Array.from({ length: 2000 }, (_, index) => `x-${index}: 1`).join('\n')
  t.throws(() => load(`${keys}\n${keys}`), {
    message: 'Map keys must be unique at line 2001, column 1',
  })
})

t.test('the number of fields is limited', async (t) => {
  const fields = (count: number) => {
    const entries = Array.from({ length: count }, (_, index) => [`field${index}`, height])
    const update = { properties: Object.fromEntries(entries) }
    return load(JSON.stringify(overlay({ actions: [{ target, update }] })))
  }
  t.equal(fields(100).length, 100)
  t.throws(() => fields(101), {
    message: 'actions/0/update/properties/field100: there must not be more than 100 fields',
  })
})

t.test('a document in another encoding is refused', async (t) => {
  t.throws(() => load(Buffer.from(`# \xe9\n${stringify(overlay({}))}`, 'latin1')), {
    message: 'must be in UTF-8',
  })
})
