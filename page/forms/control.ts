import type { MemberType } from '../../core/members/members.ts'
import type { OwnMember } from '../model/current-members.ts'

export interface Choice {
  readonly text: string
  readonly label: string
}

export interface InputControl {
  readonly kind: 'input'
  readonly isDate: boolean
  readonly inputMode: 'text' | 'numeric' | 'decimal' | 'url' | 'email'
  /** What to say below it. */
  readonly hint: string | undefined
}

export interface ChoiceControl {
  readonly kind: 'choice'
  readonly choices: readonly Choice[]
  readonly hint: string | undefined
}

const BOOLEANS: readonly Choice[] = [
  { text: 'true', label: 'Yes' },
  { text: 'false', label: 'No' },
]

/** With a time zone, which the control of browsers does not have. */
const DATE_TIME = '2026-03-21T09:30:00+01:00'

/**
 * How a person chooses or types the value of an own member.
 *
 * @param text the current one
 */
export function controlOf(
  { type, schema }: OwnMember,
  text: string | undefined,
): InputControl | ChoiceControl {
  const { format, enum: values } = schema
  const hint = describe(schema)
  if (type === 'boolean') return { kind: 'choice', choices: BOOLEANS, hint }
  if (values !== undefined) {
    // The stored value can be one that is no longer offered.
    const offered = text === undefined ? values : [...new Set([...values, text])]
    const choices = offered.map((text) => ({ text, label: text.trim() === '' ? 'Empty' : text }))
    return { kind: 'choice', choices, hint }
  }
  // The control of browsers shows any other text as none.
  const isDate = format === 'date' && /^(\d{4}-\d{2}-\d{2})?$/.test(text ?? '')
  return { kind: 'input', isDate, inputMode: inputModeFor(type, format), hint }
}

/** What to call a value in a sentence. */
export function valueLabel(member: OwnMember, text: string): string {
  const control = controlOf(member, text)
  const choices = control.kind === 'choice' ? control.choices : []
  return choices.find((choice) => choice.text === text)?.label ?? text
}

function describe({ description, format, examples = [] }: OwnMember['schema']): string | undefined {
  const [example = format === 'date-time' ? DATE_TIME : undefined] = examples
  if (example === undefined) return description
  const end = description === undefined || /[.!?]$/.test(description) ? '' : '.'
  return `${description ?? ''}${end} Such as ${example}`.trim()
}

/**
 * What keyboard a phone shows. The inputs are text: those for numbers are doubles, and those for addresses and URLs
 * change or refuse some that the service accepts.
 */
function inputModeFor(type: MemberType, format: string | undefined): InputControl['inputMode'] {
  if (format === 'uri') return 'url'
  if (format === 'email') return 'email'
  if (type === 'string') return 'text'
  return type === 'number' ? 'decimal' : 'numeric'
}
