import { Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../../client/client.ts'
import { columnsOf, type Mapping } from '../../../core/files/columns.ts'
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
import { ColumnChoices, UnusedColumns } from './column-choices.tsx'
import { FileChoiceFields } from './file-choices.tsx'

const FORMATS: { readonly [Each in Format]: string } = {
  csv: 'CSV',
  ndjson: 'NDJSON',
  json: 'JSON',
  xlsx: 'Excel workbook',
}

const SAMPLE_ROWS = 8

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
        <ColumnChoices {...{ columns, mapping, setMapping }} canRead={client !== undefined} />
        {isNumbered && <FirstId {...{ from, setFrom }} />}
        <UnusedColumns {...{ columns, mapping }} />
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
      <table class={hasOwn ? 'sample surface wide' : 'sample surface'}>
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
