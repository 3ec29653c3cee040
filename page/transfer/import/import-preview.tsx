import { Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../../client/client.ts'
import { type Column, columnsOf, type Mapping } from '../../../core/files/columns.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { Format } from '../../../core/files/formats.ts'
import { type FileChoices, nounOf } from '../../../core/files/plant-file.ts'
import { mappedText } from '../../../core/files/record-mapper.ts'
import type { Member } from '../../../core/members/members.ts'
import { Dialog } from '../../dialog/dialog.tsx'
import { suggestId } from '../../list/last-plants.ts'
import { parseId } from '../../list/plant-id.ts'
import { isOwn, members } from '../../model/current-members.ts'
import { memberLabel, ROW_LENGTH } from '../../text/display-text.ts'
import { FieldText } from '../../text/fields-text.tsx'
import { PlantText } from '../../text/plant-text.tsx'
import { describeBytes, type ImportFile } from '../file/import-file.ts'
import { matchedMember, matchKey } from '../file/matching.ts'
import { NUMBERED, withId } from '../file/numbering.ts'
import { plantOf, rowReader } from '../file/plant-mapper.ts'
import { FileChoiceFields } from './file-choices.tsx'

const FORMATS: { readonly [Each in Format]: string } = {
  csv: 'CSV',
  ndjson: 'NDJSON',
  json: 'JSON',
  xlsx: 'Excel workbook',
}

const SAMPLE_ROWS = 8

/** How many columns without a meaning are named. */
const UNUSED_MAX = 5

/** Shows how a file is understood. The person can map its columns. */
export function ImportPreview({
  client,
  file,
  mapping: firstMapping,
  isOver,
  onChoose,
  onNext,
  onClose,
}: {
  /** Undefined with a token that cannot read. */
  readonly client: PlantStoreClient | undefined
  readonly file: ImportFile
  readonly mapping: Mapping
  readonly isOver: boolean
  /** Called to read the file in another way. */
  readonly onChoose: (choices: FileChoices) => void
  /** `from` is the first id of records that are to be numbered. */
  readonly onNext: (mapping: Mapping, from?: bigint) => void
  readonly onClose: () => void
}) {
  const { name, size, format, columns } = file
  const [mapping, setMapping] = useState(firstMapping)
  const isNumbered = columnsOf(mapping, 'id').includes(NUMBERED)
  const [from, setFrom] = useState('')
  useEffect(() => {
    if (!isNumbered || from !== '') return
    const suggestion = client === undefined ? Promise.resolve(1n) : suggestId(client)
    suggestion.then((id = 1n) => setFrom((typed) => typed || String(id)))
  }, [isNumbered])
  const next = (event: SubmitEvent) => {
    event.preventDefault()
    onNext(mapping, isNumbered ? parseId(from) : undefined)
  }
  return (
    <Dialog title={`Import ${name}`} isOver={isOver} onClose={onClose}>
      <form onSubmit={next}>
        <p class="hint">
          {FORMATS[format]} · {describeBytes(size)}
        </p>
        <Warnings file={file} />
        <FileChoiceFields {...{ file, onChoose }} />
        <fieldset class="mapping">
          <legend>Columns</legend>
          {members.map((member) => (
            <ColumnChoice
              key={member.name}
              member={member}
              chosen={columnsOf(mapping, member.name)[0]}
              columns={columns}
              ids={idChoices(mapping, client !== undefined)}
              // An update can keep the names.
              isRequired={member.isRequired && (member.name === 'id' || client === undefined)}
              onChoose={(key) =>
                setMapping({ ...mapping, [member.name]: key === undefined ? [] : [key] })
              }
            />
          ))}
        </fieldset>
        {isNumbered && <FirstId {...{ from, setFrom }} />}
        {describeUnused(columns, mapping)}
        <Sample file={file} mapping={mapping} from={isNumbered ? parseId(from) : undefined} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Preview
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function Warnings({ file: { encoding, isEscaped, choices } }: { readonly file: ImportFile }) {
  return (
    <>
      {encoding === 'windows-1252' && choices.encoding === undefined && (
        <p class="warning">
          The file is not valid UTF-8, so it is read as Windows-1252. If letters look wrong below,
          choose another encoding.
        </p>
      )}
      {isEscaped && (
        <p class="warning">
          This looks like an export for a spreadsheet, which puts an apostrophe before text that
          could be a formula, such as '=1+1. The apostrophes would be imported. To import plants
          again, export them as CSV or NDJSON.
        </p>
      )}
    </>
  )
}

/** The first id of plants that are numbered. */
function FirstId({
  from,
  setFrom,
}: {
  readonly from: string
  readonly setFrom: (from: string) => void
}) {
  return (
    <label class="field">
      Number them, beginning with
      <input
        required
        inputMode="numeric"
        value={from}
        onInput={({ currentTarget }) => {
          setFrom(currentTarget.value)
          const isValid = parseId(currentTarget.value) !== undefined
          currentTarget.setCustomValidity(isValid ? '' : 'Enter a whole number.')
        }}
      />
      <span class="hint">Ids that other plants have are left out.</span>
    </label>
  )
}

type Choice = Pick<Column, 'key' | 'label'>

/** What rows without ids can have: new ids, or those of the plants with the same value of a member. */
function idChoices(mapping: Mapping, canRead: boolean): readonly Choice[] {
  const matchable = members.filter(
    (member) =>
      canRead &&
      (isOwn(member) || member.name === 'name') &&
      columnsOf(mapping, member.name).length > 0,
  )
  return [
    { key: NUMBERED, label: 'No ids: number them' },
    ...matchable.map((member) => ({
      key: matchKey(member.name),
      label: `Match rows by ${memberLabel(member)}`,
    })),
  ]
}

/** Chooses the column of a member. */
function ColumnChoice({
  member,
  chosen,
  columns,
  ids,
  isRequired,
  onChoose,
}: {
  readonly member: Member
  readonly chosen: string | undefined
  readonly columns: readonly Choice[]
  /** Offered for the id. */
  readonly ids: readonly Choice[]
  readonly isRequired: boolean
  readonly onChoose: (key: string | undefined) => void
}) {
  const none = isOwn(member) ? 'No column' : `No ${member.name}s`
  const options = member.name === 'id' ? [...ids, ...columns] : columns
  return (
    <label class="field">
      {memberLabel(member)}
      <select
        required={isRequired}
        value={options.some(({ key }) => key === chosen) ? chosen : ''}
        onChange={({ currentTarget: { value } }) => onChoose(value === '' ? undefined : value)}
      >
        <option value="">{isRequired ? 'Choose a column' : none}</option>
        {options.map(({ key, label }) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Names the columns whose data is not imported, so that a misspelled one is noticed. */
function describeUnused(columns: readonly Column[], mapping: Mapping) {
  const used = new Set(Object.values(mapping).flat())
  const unused = columns.filter(({ key }) => !used.has(key))
  if (unused.length === 0) return null
  const names = unused.slice(0, UNUSED_MAX).map(({ label }) => label)
  const more = unused.length > UNUSED_MAX ? ` and ${unused.length - UNUSED_MAX} more` : ''
  return (
    <p class="hint">
      Not imported: {names.join(', ')}
      {more}
    </p>
  )
}

/** The first records as plants, each with its problem. */
function Sample({
  file: { format, sample },
  mapping,
  from,
}: {
  readonly file: ImportFile
  readonly mapping: Mapping
  readonly from: bigint | undefined
}) {
  const problemOf = recordCheck(mapping, format)
  const shown = members.filter(
    (member) => !isOwn(member) || columnsOf(mapping, member.name).length > 0,
  )
  const hasOwn = shown.some(isOwn)
  return (
    // With many columns, it is wider than the dialog.
    <div class="sample-view" tabIndex={hasOwn ? 0 : undefined}>
      <table class={hasOwn ? 'sample wide' : 'sample'}>
        <caption>First rows</caption>
        <thead>
          <tr>
            <th scope="col">{nounOf(format)}</th>
            {shown.map((member) => (
              <th key={member.name} scope="col">
                {memberLabel(member)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sample.slice(0, SAMPLE_ROWS).map((given, index) => {
            const record = from === undefined ? given : withId(given, from + BigInt(index), format)
            const problem = problemOf(record)
            return (
              <Fragment key={record.number}>
                <tr>
                  <td>{record.number}</td>
                  {shown.map((member) => (
                    <td key={member.name}>
                      <Cell member={member} text={mappedText(record, mapping, member.name)} />
                    </td>
                  ))}
                </tr>
                {problem !== undefined && (
                  <tr class="problem">
                    <td />
                    <td colSpan={shown.length}>{problem}</td>
                  </tr>
                )}
              </Fragment>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Finds out what is wrong with a record, whatever is stored. */
function recordCheck(mapping: Mapping, format: Format): (record: FileRecord) => string | undefined {
  const read = rowReader(mapping, format)
  const matched = matchedMember(mapping)
  return (record) => {
    const row = read(matched ? withId(record, 0n, format, matchKey(matched.name)) : record)
    const plant = typeof row === 'string' ? row : plantOf(row, { id: row.id, name: '' })
    return typeof plant === 'string' ? plant : undefined
  }
}

/** An own member that a record lacks leaves its cell empty. */
function Cell({ member, text }: { readonly member: Member; readonly text: string | undefined }) {
  if (!isOwn(member)) return <FieldText name={member.name} text={text} />
  return text ? <PlantText text={text} blank="" length={ROW_LENGTH} /> : null
}
