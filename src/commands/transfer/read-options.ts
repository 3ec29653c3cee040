import { type Command, InvalidArgumentError, Option } from 'commander'
import { HEADER_MAX, type Header } from '../../../core/files/csv-dialect.ts'
import type { Quote } from '../../../core/files/csv-reader.ts'
import { encodings } from '../../../core/files/encoding.ts'
import { formats } from '../../../core/files/formats.ts'

const SEPARATORS: ReadonlyMap<string, string> = new Map([
  ['comma', ','],
  ['semicolon', ';'],
  ['tab', '\t'],
  ['none', ''],
])

const QUOTES: ReadonlyMap<string, Quote> = new Map([
  ['double', '"'],
  ['single', "'"],
  ['none', ''],
])

/** Adds the options that say how a file is written, which is recognized otherwise. */
export function addReadOptions(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'the format of the file').choices(formats))
    .addOption(new Option('--encoding <name>', 'the encoding of text').choices(encodings))
    .addOption(
      new Option(
        '--separator <character>',
        'what separates the fields of CSV: a character, comma, semicolon, tab or none',
      ).argParser(parseSeparator),
    )
    .addOption(
      new Option(
        '--quote <kind>',
        'what surrounds fields of CSV: double, single or none',
      ).argParser(parseQuote),
    )
    .addOption(
      new Option(
        '--header <line>',
        `the line of CSV that names the columns, from 1 to ${HEADER_MAX}, or none`,
      ).argParser(parseHeader),
    )
    .option('--array <path>', 'the array of a JSON object that has the plants, such as data.plants')
    .option('--sheet <name>', 'the sheet of a workbook that has the plants')
    .addOption(
      new Option(
        '--column <member=column>',
        'the column of a property, such as name=Taxon; repeatable, and joins the columns of one property',
      ).argParser((choice, given: string[] = []) => [...given, choice]),
    )
}

function parseSeparator(text: string): string {
  const separator = SEPARATORS.get(text) ?? text
  if (separator !== '' && !/^(?:\t|[^\w"'\s])$/.test(separator)) {
    throw new InvalidArgumentError(
      'Expected comma, semicolon, tab, none, or one character other than a letter, a digit, a quote or a blank.',
    )
  }
  return separator
}

function parseQuote(text: string): Quote {
  const quote = QUOTES.get(text)
  if (quote === undefined) throw new InvalidArgumentError('Expected double, single or none.')
  return quote
}

function parseHeader(text: string): Header {
  const line = Number(text)
  if (text !== 'none' && !(/^\d+$/.test(text) && line >= 1 && line <= HEADER_MAX)) {
    throw new InvalidArgumentError(`Expected a line from 1 to ${HEADER_MAX}, or none.`)
  }
  return text === 'none' ? text : line
}
