import { extname } from 'node:path'
import { ConfigError } from '../config/config.ts'

/** The file name that stands for standard input or output. */
export const STDIO = '-'

const EXTENSIONS = { ndjson: ['.ndjson', '.jsonl'], csv: ['.csv'] } as const

/** A file format for plants. */
export type Format = keyof typeof EXTENSIONS

export const formats = Object.keys(EXTENSIONS) as Format[]

/** Completes the error of `detectFormat` for commands with a `--format` option. */
export const FORMAT_HINT = `; otherwise use --format ${formats.join(' or ')}`

/**
 * Determines the format of a file from its extension.
 *
 * @param hint appended to the error message
 * @throws ConfigError if the extension is unknown
 */
export function detectFormat(file: string, hint = ''): Format {
  const extension = extname(file).toLowerCase()
  const format = formats.find((each) => EXTENSIONS[each].some((known) => known === extension))
  if (format !== undefined) return format
  const known = Object.values(EXTENSIONS).flat().join(', ')
  throw new ConfigError(
    `cannot tell the format of ${file}: expected a name ending in one of ${known}${hint}`,
  )
}
