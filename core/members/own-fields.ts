/** A property that an operator adds to the contract's schema `Plant`. */
export interface OwnField {
  readonly name: string
  readonly schema: FieldSchema
}

/** The keywords that an own field can have (JSON Schema 2020-12). */
export interface FieldSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  /** An integer always has one. */
  readonly format?: TextFormat | IntegerFormat
  readonly title?: string
  readonly description?: string
  readonly examples?: readonly unknown[]
  /** Whether an index sorts the plants by the field. */
  readonly 'x-sortable'?: boolean
  /** Only for strings, as are the next two. In code points. */
  readonly minLength?: number
  readonly maxLength?: number
  readonly enum?: readonly string[]
  /** Only for integers and numbers, as is the next one. Safe integers if the field is an integer. */
  readonly minimum?: number
  readonly maximum?: number
}

/** What an operator adds to the contract. */
export interface ContractExtension {
  readonly fields: readonly OwnField[]
  /** The names of other members by which an index sorts the plants. */
  readonly sortable: readonly string[]
}

export type TextFormat = 'date' | 'date-time' | 'uri' | 'email'
export type IntegerFormat = 'int32' | 'int64'

/** How many own fields a contract can have. */
export const OWN_FIELDS_MAX = 100
