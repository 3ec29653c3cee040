/** The query parameters that select plants by their own fields, such as `min.height`. No other parameter has a dot. */
import type { FieldSchema, OwnField } from '../members/own-fields.ts'

/** A query parameter in the contract. */
interface QueryParameter {
  readonly name: string
  readonly in: 'query'
  readonly description: string
  readonly schema: object
}

/** Where a page begins in an order other than by id. */
export const AFTER_KEY: QueryParameter = {
  name: 'afterKey',
  in: 'query',
  description:
    'With `sort` by another property than the id, this comes with `after`, in `Link`. It is the place of that plant in ' +
    'the order, even if the plant is removed or changed.',
  schema: {
    type: 'string',
    title: 'a key from Link',
    pattern: '^[A-Za-z0-9_-]*$',
    maxLength: 1200,
  },
}

/** What the first part of a parameter's name requires of the field in the second part. */
const KINDS = ['is', 'min', 'max', 'without'] as const

type FilterKind = (typeof KINDS)[number]

/** What a parameter requires of which field. */
export interface FieldFilter {
  readonly kind: FilterKind
  readonly name: string
}

/** How often `is` can be repeated. */
const VALUES_MAX = 200

/** The name of a parameter. */
export function filterName({ kind, name }: FieldFilter): string {
  return `${kind}.${name}`
}

/** The parts of the name of such a parameter; undefined for any other. */
export function parseFilterName(parameter: string): FieldFilter | undefined {
  const dot = parameter.indexOf('.')
  const kind = KINDS.find((each) => each === parameter.slice(0, Math.max(dot, 0)))
  return kind && { kind, name: parameter.slice(dot + 1) }
}

/** The parameters for a field. */
export function filterParameters({ name, schema }: OwnField): QueryParameter[] {
  const { title, description } = schema
  const about = [title, description].filter((text) => text).join(': ')
  const parameter = (kind: FilterKind, effect: string, valueSchema: object): QueryParameter => ({
    name: filterName({ kind, name }),
    in: 'query',
    description: about === '' ? effect : `${effect}\n\n${about}`,
    schema: valueSchema,
  })
  const { enum: values, ...value } = toValueSchema(schema)
  const field = `\`${name}\``
  return [
    parameter(
      'is',
      `Return only plants whose ${field} is this. Repeat the parameter to accept several values.`,
      {
        type: 'array',
        minItems: 1,
        maxItems: VALUES_MAX,
        items: values === undefined ? value : { ...value, enum: values },
      },
    ),
    ...(hasOrder(schema)
      ? [
          parameter('min', `Return only plants whose ${field} is this or more.`, value),
          parameter('max', `Return only plants whose ${field} is this or less.`, value),
        ]
      : []),
    parameter(
      'without',
      `With \`true\`, return only plants without ${field}. Cannot be combined with its other parameters.`,
      { type: 'boolean', enum: [true] },
    ),
  ]
}

/** A value in a filter can exceed the limits of stored ones. */
function toValueSchema({ type, format, enum: values }: FieldSchema): FieldSchema {
  return { type, ...(format && { format }), ...(values && { enum: values }) }
}

/** Whether the values of a field can have limits. */
export function hasOrder({ type, format }: FieldSchema): boolean {
  return type === 'integer' || type === 'number' || format === 'date' || format === 'date-time'
}
