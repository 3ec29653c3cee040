import { extname } from 'node:path'
import { ConfigError } from '../config/config.ts'

/** Stands for standard input or output where a file is asked for. */
export const STANDARD = '-'

/** The ways to write down plants, each with how the names of such files end. */
const EXTENSIONS = { ndjson: ['.ndjson', '.jsonl'], csv: ['.csv'] } as const

export type Format = keyof typeof EXTENSIONS

export const formats = Object.keys(EXTENSIONS) as Format[]

/** What a command says where the name of a file does not tell its format. */
export const SAY_FORMAT = `; say --format ${formats.join(' or ')}`

/**
 * The format that a file has by its name.
 *
 * @param advice how else to tell it, where there is a way
 * @throws ConfigError if the name does not tell it
 */
export function formatOf(file: string, advice = ''): Format {
  const extension = extname(file).toLowerCase()
  const format = formats.find((each) => EXTENSIONS[each].some((known) => known === extension))
  if (format !== undefined) return format
  const known = Object.values(EXTENSIONS).flat().join(', ')
  throw new ConfigError(`the name ${file} does not end with one of ${known}${advice}`)
}
