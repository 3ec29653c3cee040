import { encodings } from '../../../core/files/encoding.ts'
import type { FileChoices } from '../../../core/files/plant-file.ts'
import { cut } from '../../text/display-text.ts'
import type { ImportFile } from '../file/import-file.ts'

/** An option of a list: its value, and what to call it. */
type Choice = readonly [value: string, label: string]

const SEPARATORS: readonly Choice[] = [
  [',', 'Comma'],
  [';', 'Semicolon'],
  ['\t', 'Tab'],
  ['|', 'Vertical bar |'],
  ['*', 'Asterisk *'],
  ['', 'None: one column'],
]

const QUOTES: readonly Choice[] = [
  ['"', 'Double quotes "'],
  ["'", "Single quotes '"],
  ['', 'None: quotes are text'],
]

const NAMES: { readonly [encoding: string]: string } = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16 (big-endian)',
  'windows-1250': 'Windows-1250 (Central European)',
  'windows-1251': 'Windows-1251 (Cyrillic)',
  'windows-1252': 'Windows-1252 (Western European)',
  'windows-1253': 'Windows-1253 (Greek)',
  'windows-1254': 'Windows-1254 (Turkish)',
  macintosh: 'Mac OS Roman',
  shift_jis: 'Shift_JIS (Japanese)',
  gb18030: 'GB 18030 (Chinese)',
  big5: 'Big5 (Chinese)',
  'euc-kr': 'EUC-KR (Korean)',
}

const ENCODINGS: readonly Choice[] = encodings.map((encoding) => [
  encoding,
  NAMES[encoding] ?? encoding,
])

/** Enough to recognize a line. */
const HEADER_LENGTH = 60

/** Shows how a file is read. The person can correct that. */
export function FileChoiceFields({
  file,
  onChoose,
}: {
  readonly file: ImportFile
  /** Called to read the file in another way. */
  readonly onChoose: (choices: FileChoices) => void
}) {
  const { encoding, dialect, header, candidates, arrays, array, sheets, sheet, choices } = file
  const choose = (changed: FileChoices) => onChoose({ ...choices, ...changed })
  return (
    <div class="choices">
      {file.format !== 'xlsx' && (
        <Select
          label="Encoding"
          options={ENCODINGS}
          value={encoding}
          onChoose={(value) => choose({ encoding: encodings.find((each) => each === value) })}
        />
      )}
      {dialect !== undefined && (
        <>
          <Select
            label="Separator"
            options={withCurrent(SEPARATORS, dialect.separator)}
            value={dialect.separator}
            onChoose={(separator) => choose({ separator, header: undefined })}
          />
          <Select
            label="Quotes"
            options={QUOTES}
            value={dialect.quote}
            onChoose={(value) =>
              choose({ quote: value === '"' || value === "'" ? value : '', header: undefined })
            }
          />
        </>
      )}
      {header !== undefined && (
        <Select
          label="Header row"
          isWide
          options={[
            ...candidates.map(
              ({ line, text }): Choice => [
                String(line),
                `Line ${line}: ${cut(text, HEADER_LENGTH)}`,
              ],
            ),
            ['none', 'None: every line is a plant'],
          ]}
          value={String(header)}
          onChoose={(value) => choose({ header: value === 'none' ? value : Number(value) })}
        />
      )}
      {sheets.length > 1 && (
        <Select
          label="Sheet"
          options={sheets.map((name): Choice => [name, name])}
          value={sheet ?? ''}
          onChoose={(name) => choose({ sheet: name, header: undefined })}
        />
      )}
      {arrays.length > 1 && (
        <Select
          label="List"
          options={arrays.map((path): Choice => [path, path])}
          value={array ?? ''}
          onChoose={(path) => choose({ array: path })}
        />
      )}
    </div>
  )
}

function withCurrent(options: readonly Choice[], value: string): readonly Choice[] {
  return options.some(([each]) => each === value) ? options : [...options, [value, value]]
}

function Select({
  label,
  options,
  value,
  isWide = false,
  onChoose,
}: {
  readonly label: string
  readonly options: readonly Choice[]
  readonly value: string
  readonly isWide?: boolean
  readonly onChoose: (value: string) => void
}) {
  return (
    <label class={isWide ? 'field whole' : 'field'}>
      {label}
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
