import { useState } from 'preact/hooks'
import { canBeEmpty } from '../../core/members/member-text.ts'
import type { OwnMember } from '../model/current-members.ts'
import { memberLabel } from '../text/display-text.ts'
import { type Choice, controlOf, type InputControl } from './control.ts'
import { Field, type FieldProps, NONE, OptionalTextField } from './text-fields.tsx'

type ValueProps = FieldProps & {
  readonly text: string | undefined
  readonly onText: (text: string | undefined) => void
}

/** The field of an own member, with a control that suits its type. */
export function OwnField({
  member,
  placeholder = NONE,
  ...field
}: Omit<ValueProps, 'label' | 'hint'> & {
  readonly member: OwnMember
  /** What stands for no value. */
  readonly placeholder?: string
}) {
  const control = controlOf(member, field.text)
  const props = { ...field, placeholder, label: memberLabel(member), hint: control.hint }
  if (control.kind === 'choice') return <ChoiceField {...props} choices={control.choices} />
  if (canBeEmpty(member)) {
    return <OptionalTextField {...props} name={props.label} none={placeholder} />
  }
  return <InputField {...props} control={control} />
}

/** A line of text that means no value if it is empty. */
function InputField({
  control,
  text = '',
  placeholder,
  isReadOnly,
  onText,
  ...field
}: ValueProps & { readonly control: InputControl; readonly placeholder: string }) {
  // Typing does not change the kind of field.
  const [isDate] = useState(control.isDate)
  return (
    <div class="stack">
      <Field {...field}>
        {(attributes) => {
          const shared = {
            ...attributes,
            value: text,
            readOnly: isReadOnly,
            onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
              onText(currentTarget.value),
          }
          if (isDate) return <input {...shared} type="date" />
          return (
            <input
              {...shared}
              inputMode={control.inputMode}
              dir="auto"
              autocomplete="off"
              placeholder={placeholder}
            />
          )
        }}
      </Field>
    </div>
  )
}

/** One of some values, or none. */
function ChoiceField({
  choices,
  text,
  placeholder,
  isReadOnly,
  onText,
  ...field
}: ValueProps & { readonly choices: readonly Choice[]; readonly placeholder: string }) {
  // By index, because a value can be empty.
  const chosen = choices.findIndex((choice) => choice.text === text)
  return (
    <div class="stack">
      <Field {...field}>
        {(attributes) => (
          <select
            {...attributes}
            disabled={isReadOnly}
            value={String(chosen)}
            onChange={({ currentTarget: { value } }) => onText(choices[Number(value)]?.text)}
          >
            <option value="-1">{placeholder}</option>
            {choices.map(({ text, label }, index) => (
              <option key={text} value={String(index)}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  )
}
