import type { ComponentChildren } from 'preact'
import type { ChangeCounts } from '../../client/client.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { download } from '../dialog/download.ts'
import { FieldsText } from '../text/fields-text.tsx'
import { formatCount, formatNumber } from '../text/intl.ts'
import type { RefusedPlants } from './refused-plants.ts'
import type { RunState } from './use-run.ts'

/** What the dialog calls a run. */
export interface RunWords {
  /** Such as `Importing plants.csv`. */
  readonly title: string
  /** Such as `Import`. */
  readonly noun: string
  /** What the counts are called, in the order in which they are shown. */
  readonly counts: readonly (readonly [name: keyof ChangeCounts, label: string])[]
  /** What the refused ones are called, such as `not imported`. */
  readonly refused: string
  /** What a refused one is called, such as `row`. */
  readonly item: string
  /** What was to be stored, such as `In the file`. */
  readonly wanted: string
  /** What a person should know who has canceled the run. */
  readonly canceled: string
  /** What precedes the number of a refused one. */
  readonly place?: string
  /** The name of the file with the refused ones, without an extension. */
  readonly file: string
}

/** Shows a run, then what it did. */
export function RunDialog({
  words,
  run: { counts, pause, end, cancel },
  progress,
  refused,
  onClose,
  onUndo,
}: {
  readonly words: RunWords
  readonly run: RunState
  readonly progress: { readonly value: number; readonly max: number }
  readonly refused: RefusedPlants
  readonly onClose: () => void
  /** Undefined if there is nothing to take back. */
  readonly onUndo?: (() => void) | undefined
}) {
  const { noun } = words
  const [state, problem] = describe()
  function describe(): readonly [string, string?] {
    if (end === 'finished') return [`${noun} finished`]
    if (end === 'canceled') return [`${noun} canceled`, words.canceled]
    if (end !== undefined) return [`${noun} stopped`, end.problem]
    return pause === undefined ? [words.title] : [`${noun} paused`, pause.problem]
  }
  return (
    <Dialog title={state} isBusy={end === undefined} onClose={onClose}>
      {end === undefined && <progress aria-label="Progress" {...progress} />}
      <dl class="counts">
        {words.counts.map(([name, label]) => (
          <Count key={name} label={label} value={counts[name]} />
        ))}
        <Count label={capitalize(words.refused)} value={refused.count} isProblem />
      </dl>
      <p class="problem" role="alert">
        {problem}
      </p>
      {end !== undefined && refused.count > 0 && <Refused words={words} refused={refused} />}
      <footer>
        {end === undefined ? (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        ) : (
          onUndo && (
            <button type="button" onClick={onUndo}>
              Undo {noun.toLowerCase()}
            </button>
          )
        )}
        {pause !== undefined && end === undefined && (
          <button type="button" class="primary" onClick={pause.resume}>
            Continue
          </button>
        )}
        {end !== undefined && (
          <button type="button" class="primary" onClick={onClose}>
            Close
          </button>
        )}
      </footer>
    </Dialog>
  )
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function Count({
  label,
  value,
  isProblem = false,
}: {
  readonly label: ComponentChildren
  readonly value: number
  readonly isProblem?: boolean
}) {
  return (
    <div class={isProblem && value > 0 ? 'surface problem' : 'surface'}>
      <dt>{label}</dt>
      <dd>{formatNumber(value)}</dd>
    </div>
  )
}

/** The first refused plants, and all of them as a file. */
function Refused({
  words: { item, refused: verb, wanted, place, file },
  refused,
}: {
  readonly words: RunWords
  readonly refused: RefusedPlants
}) {
  const { shown, count } = refused
  return (
    <section>
      <header class="row apart">
        <h3>
          {shown.length < count && `The first ${shown.length} of `}
          {formatCount(count, item)} {verb}
        </h3>
        <button type="button" onClick={() => download(refused.toFile(), `${file}-refused.csv`)}>
          Download
        </button>
      </header>
      <ul class="refused surface">
        {/* Conflicts are found after other problems. */}
        {shown
          .toSorted((one, other) => (one.number ?? 0) - (other.number ?? 0))
          .map(({ number, reason, fields, isDeletion, storedFields }, index) => (
            <li key={index}>
              <b>
                {number !== undefined && `${place} ${number}: `}
                {reason}
              </b>
              <FieldsText fields={fields} label={isDeletion ? 'To delete' : wanted} />
              {storedFields !== undefined && <FieldsText fields={storedFields} label="Stored" />}
            </li>
          ))}
      </ul>
    </section>
  )
}
