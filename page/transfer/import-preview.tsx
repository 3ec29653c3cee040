import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { members } from '../../contract/members.gen.ts'
import type { Format } from '../../formats/readers.ts'
import { CSV_HEADER } from '../../formats/record-formats.ts'
import { memberLabel } from '../text/display-text.ts'
import { type Column, type Mapping, plantMapper } from './file/columns.ts'
import { describeBytes, type Encoding, nounOf } from './file/file-kind.ts'
import type { ImportFile } from './file/import-file.ts'
import { recordParts } from './record-text.tsx'
import { fieldsOf } from './refused-records.ts'
import { TransferDialog } from './transfer-dialog.tsx'

const FORMATS: { readonly [Each in Format]: string } = {
  csv: 'CSV',
  ndjson: 'NDJSON',
  json: 'JSON array',
}

const ENCODINGS: { readonly [Each in Encoding]: string } = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16',
  'windows-1252': 'Windows-1252',
}

/** How many columns without a meaning are named. */
const UNUSED_MAX = 5

/** Shows how a file is understood. The person can map its columns, then start the import. */
export function ImportPreview({
  file,
  isOver,
  onStart,
  onClose,
}: {
  readonly file: ImportFile
  readonly isOver: boolean
  readonly onStart: (mapping: Mapping) => void
  readonly onClose: () => void
}) {
  const { name, size, format, encoding, columns } = file
  const [mapping, setMapping] = useState(file.guess)
  const start = (event: SubmitEvent) => {
    event.preventDefault()
    onStart(mapping)
  }
  return (
    <TransferDialog title={`Import ${name}`} isOver={isOver} onClose={onClose}>
      <form onSubmit={start}>
        <p class="hint">
          {FORMATS[format]} · {ENCODINGS[encoding]} · {describeBytes(size)}
        </p>
        {encoding === 'windows-1252' && (
          <p class="warning">
            The file is not valid UTF-8, so it is read as Windows-1252. If letters look wrong below,
            save it as UTF-8 and choose it again.
          </p>
        )}
        {format === 'csv' && columns.some(({ name }) => /^-?\d+$/.test(name)) && (
          <p class="warning">
            The first row is taken for the names of the columns. If it is a plant, put a row such as{' '}
            {CSV_HEADER} above it.
          </p>
        )}
        <fieldset class="mapping">
          <legend>Columns</legend>
          {members.map(({ name, isRequired }) => (
            <label key={name} class="field">
              {memberLabel(name)}
              <select
                required={isRequired}
                value={mapping[name] ?? ''}
                onChange={({ currentTarget: { value } }) =>
                  setMapping({ ...mapping, [name]: value === '' ? undefined : value })
                }
              >
                <option value="">{isRequired ? 'Choose a column' : `No ${name}s`}</option>
                {columns.map((column) => (
                  <option key={column.key} value={column.key}>
                    {labelColumn(column, columns)}
                  </option>
                ))}
              </select>
            </label>
          ))}
        </fieldset>
        {describeUnused(columns, mapping)}
        <Sample file={file} mapping={mapping} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Import
          </button>
        </footer>
      </form>
    </TransferDialog>
  )
}

function labelColumn({ key, name }: Column, columns: readonly Column[]): string {
  const number = columns.findIndex((column) => column.key === key) + 1
  if (name.trim() === '') return `Column ${number}`
  const isUnique = columns.filter((column) => column.name === name).length === 1
  return isUnique ? name : `${name} (column ${number})`
}

/** Names the columns whose data is not imported, so that a misspelled one is noticed. */
function describeUnused(columns: readonly Column[], mapping: Mapping) {
  const unused = columns.filter(({ key }) => !Object.values(mapping).includes(key))
  if (unused.length === 0) return null
  const names = unused.slice(0, UNUSED_MAX).map((column) => labelColumn(column, columns))
  const more = unused.length > UNUSED_MAX ? ` and ${unused.length - UNUSED_MAX} more` : ''
  return (
    <p class="hint">
      Not imported: {names.join(', ')}
      {more}
    </p>
  )
}

/** The first records as plants, each with its problem. */
function Sample({ file, mapping }: { readonly file: ImportFile; readonly mapping: Mapping }) {
  const { format, sample } = file
  const toPlant = plantMapper(mapping, format)
  return (
    <table class="sample">
      <caption>First rows</caption>
      <thead>
        <tr>
          <th scope="col">{nounOf(format)}</th>
          {members.map(({ name }) => (
            <th key={name} scope="col">
              {memberLabel(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sample.map((record) => {
          const plant = toPlant(record)
          return (
            <Fragment key={record.number}>
              <tr>
                <td>{record.number}</td>
                {recordParts(fieldsOf(record, mapping)).map((part) => (
                  <td key={part.key}>{part}</td>
                ))}
              </tr>
              {typeof plant === 'string' && (
                <tr class="problem">
                  <td />
                  <td colSpan={members.length}>{plant}</td>
                </tr>
              )}
            </Fragment>
          )
        })}
      </tbody>
    </table>
  )
}
