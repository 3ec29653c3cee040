import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../client/client.ts'
import type { ExportFormat } from '../../core/files/record-formats.ts'
import { Dialog } from '../dialog/dialog.tsx'
import type { Filter } from '../list/filter.ts'
import { cut } from '../text/display-text.ts'
import { formatCount } from '../text/intl.ts'
import { useExport } from './use-export.ts'

const CHOICES: readonly {
  readonly format: ExportFormat
  readonly label: string
  readonly hint: string
}[] = [
  {
    format: 'xlsx',
    label: 'Excel workbook',
    hint: 'For spreadsheets. Text stays as it is, even if it looks like a number, a date or a formula.',
  },
  {
    format: 'csv',
    label: 'CSV',
    hint: 'For other programs. A spreadsheet can run a name that starts with = as a formula.',
  },
  { format: 'ndjson', label: 'NDJSON', hint: 'One JSON object per line.' },
]

/** Enough to recognize a tag. */
const TAG_LENGTH = 80

/** Exports the plants that the filter selects. */
export function ExportDialog({
  client,
  filter,
  conditions,
  onClose,
}: {
  readonly client: PlantStoreClient
  readonly filter: Filter
  /** Those of the filter, in words. */
  readonly conditions: readonly string[]
  readonly onClose: () => void
}) {
  const [format, setFormat] = useState<ExportFormat>('xlsx')
  const { run, plants, problem, saved, start } = useExport(client, filter, format)

  if (saved !== undefined) {
    return (
      <Dialog title="Export finished" onClose={onClose}>
        <p>
          {formatCount(plants, 'plant')} saved as <b>{saved}</b>.
        </p>
        <footer>
          <button type="button" class="primary" onClick={onClose}>
            Close
          </button>
        </footer>
      </Dialog>
    )
  }
  if (run !== undefined) {
    return (
      <Dialog title="Exporting plants" isBusy onClose={onClose}>
        <label class="stack">
          {formatCount(plants, 'plant')} so far
          <progress />
        </label>
        <footer>
          <button type="button" onClick={() => run.abort()}>
            Cancel
          </button>
        </footer>
      </Dialog>
    )
  }
  return (
    <Dialog title="Export plants" onClose={onClose}>
      <p>{describeFilter(filter, conditions)}</p>
      <FormatChoice {...{ format, setFormat }} />
      <p class="problem" role="alert">
        {problem}
      </p>
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" onClick={start}>
          Export
        </button>
      </footer>
    </Dialog>
  )
}

function describeFilter(
  { tag, untagged, q }: Filter,
  conditions: readonly string[],
): ComponentChildren {
  const parts: ComponentChildren[] = ['All plants']
  if (untagged) parts.push(' without a tag')
  else if (tag === '') parts.push(' with an empty tag')
  else if (tag !== undefined) parts.push(' with the tag “', <bdi>{cut(tag, TAG_LENGTH)}</bdi>, '”')
  if (q !== undefined) parts.push(' whose name contains “', <bdi>{q}</bdi>, '”')
  for (const condition of conditions) parts.push('; ', <bdi>{condition}</bdi>)
  return [...parts, '.']
}

function FormatChoice({
  format,
  setFormat,
}: {
  readonly format: ExportFormat
  readonly setFormat: (format: ExportFormat) => void
}) {
  return (
    <fieldset class="stack">
      <legend>Format</legend>
      {CHOICES.map(({ format: each, label, hint }) => (
        <label key={each} class="format row">
          <input
            type="radio"
            name="format"
            checked={each === format}
            onChange={() => setFormat(each)}
          />
          <span>
            <b>{label}</b> <span class="hint">{hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
