import { useState } from 'preact/hooks'
import { columnsOf, type Mapping } from '../../../core/files/columns.ts'
import { counted } from '../../../core/files/formats.ts'
import { nounOf } from '../../../core/files/plant-file.ts'
import { RefusedPlants } from '../../changes/refused-plants.ts'
import { download } from '../../dialog/download.ts'
import { isOwn, members, toFields } from '../../model/current-members.ts'
import { memberLabel, ROW_LENGTH } from '../../text/display-text.ts'
import { FieldsText, FieldText } from '../../text/fields-text.tsx'
import { formatNumber } from '../../text/intl.ts'
import { PlantText } from '../../text/plant-text.tsx'
import type { ImportFile } from '../file/import-file.ts'
import { fieldsOf, plantOf, rowReader } from '../file/plant-mapper.ts'
import type { Example, Fate, Group } from './file-comparison.ts'

const PAGE_ROWS = 20

interface ExamplesProps {
  readonly fate: Fate
  readonly group: Group
  readonly file: ImportFile
  readonly mapping: Mapping
  readonly isUpdate: boolean
}

/** A list of the plants of a file that are not stored as they are, which can be corrected and imported. */
export function refusedOf({ format }: ImportFile, mapping: Mapping): RefusedPlants {
  return new RefusedPlants(counted[format], (name) => columnsOf(mapping, name).length > 0)
}

/** The records that have a fate: all that change plants or are refused, in pages, or the first one. */
export function Examples(props: ExamplesProps) {
  const { fate, group, file, mapping } = props
  const [start, setStart] = useState(0)
  const { examples, count } = group
  if (fate === 'new' || fate === 'same') return <First {...props} />
  const end = Math.min(start + PAGE_ROWS, examples.length)
  const shown = { ...props, examples: examples.slice(start, end) }
  const what = fate === 'different' ? 'changes' : 'refused rows'
  const save = () => {
    const list = refusedOf(file, mapping)
    for (const { record, reason = 'Differs from the stored plant', stored } of examples) {
      list.add({ number: record.number, reason, fields: fieldsOf(record, mapping), stored })
    }
    download(list.toFile(), `${file.name.replace(/\.\w+$/, '')}-${what.replace(' ', '-')}.csv`)
  }
  return (
    <>
      {examples.length < count && (
        <p class="hint">Only {formatNumber(examples.length)} of them are listed.</p>
      )}
      {fate === 'different' ? <Changes {...shown} /> : <Refused {...shown} />}
      <p class="row">
        {examples.length > PAGE_ROWS && (
          <>
            <button
              type="button"
              aria-label={`Previous ${what}`}
              disabled={start === 0}
              onClick={() => setStart(start - PAGE_ROWS)}
            >
              Previous
            </button>
            <span role="status">
              {formatNumber(start + 1)} to {formatNumber(end)}
            </span>
            <button
              type="button"
              aria-label={`Next ${what}`}
              disabled={end === examples.length}
              onClick={() => setStart(end)}
            >
              Next
            </button>
          </>
        )}
        <button type="button" aria-label={`Download ${what}`} onClick={save}>
          Download
        </button>
      </p>
    </>
  )
}

function First({ group: { examples, count }, file, mapping }: ExamplesProps) {
  return examples.map(({ record }) => (
    <>
      <p>
        {count > 1 && 'The first one: '}
        {nounOf(file.format)} {record.number}
      </p>
      <FieldsText fields={fieldsOf(record, mapping)} label="In the file" />
    </>
  ))
}

type PageProps = ExamplesProps & { readonly examples: readonly Example[] }

function Refused({ examples, file, mapping }: PageProps) {
  return (
    <ul class="refused surface">
      {examples.map(({ record, reason }) => (
        <li key={record.number}>
          {nounOf(file.format)} {record.number}: {reason}
          <FieldsText fields={fieldsOf(record, mapping)} label="In the file" />
        </li>
      ))}
    </ul>
  )
}

/** What plants would become, next to what is stored. */
function Changes({ examples, file, mapping, isUpdate }: PageProps) {
  const changesOf = differ(file, mapping, isUpdate)
  return (
    <table class="sample surface">
      <thead>
        <tr>
          <td />
          <th scope="col">Stored</th>
          <th scope="col">In the file</th>
        </tr>
      </thead>
      {examples.map((example) => (
        <tbody key={example.record.number}>
          <tr>
            <th colSpan={3} scope="rowgroup">
              {nounOf(file.format)} {example.record.number}: {String(example.stored?.id)}{' '}
              <PlantText text={example.stored?.name ?? ''} blank="" length={ROW_LENGTH} />
            </th>
          </tr>
          {changesOf(example).map(({ member, stored, wanted }) => (
            <tr key={member.name}>
              <th scope="row">{memberLabel(member)}</th>
              {[stored, wanted].map((text, index) => (
                <td key={index}>
                  <FieldText name={isOwn(member) ? memberLabel(member) : member.name} text={text} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  )
}

/** Finds out in which members an example differs from the stored plant. */
function differ({ format }: ImportFile, mapping: Mapping, isUpdate: boolean) {
  const read = rowReader(mapping, format)
  return ({ record, stored }: Example) => {
    const row = read(record)
    if (stored === undefined || typeof row === 'string') return []
    const plant = plantOf(row, isUpdate ? stored : undefined)
    if (typeof plant === 'string') return []
    const [before, after] = [toFields(stored), toFields(plant)]
    const all = members.map((member, at) => ({ member, stored: before[at], wanted: after[at] }))
    return all.filter((each) => each.stored !== each.wanted)
  }
}
