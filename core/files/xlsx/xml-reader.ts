/// <reference path="./saxen.d.ts" />
import { Parser } from 'saxen'
import { InvalidWorkbook } from './zip.ts'

/** The value of an attribute, by its name without a namespace. */
export type Attributes = (name: string) => string | undefined

/** Names have no namespace prefix. */
export interface XmlHandler {
  readonly open: (name: string, attributes: Attributes) => void
  readonly close?: (name: string) => void
  readonly text?: (text: string) => void
}

/** Elements of a workbook contain about ten others. */
const DEPTH_MAX = 64

/** As many as the cells that are read can have, including formulas and formatted text. */
const ELEMENTS_MAX = 2 ** 25

/** The most text that is kept because a tag or text has not ended. A cell has at most 32,767 characters. */
const TOKEN_LENGTH_MAX = 2 ** 20

const CODE_POINT_MAX = 0x10ffff

/** Reads XML as it arrives, except document type definitions: their entities can expand to any size. */
export class XmlReader {
  readonly #parser = new Parser()
  #depth = 0
  #elements = 0
  /** The length of the text since the last token. */
  #unparsed = 0

  constructor({ open, close, text }: XmlHandler) {
    const handleText = (value: string) => {
      this.#unparsed = 0
      text?.(value)
    }
    // XML 1.0 §2.11
    const toLines = (value: string) => value.replace(/\r\n?/g, '\n')
    this.#parser
      .on('error', () => fail('the workbook is damaged: its XML is not well-formed'))
      .on('attention', () => fail('the workbook contains a document type definition'))
      .on('text', (value) => handleText(decode(toLines(value))))
      .on('cdata', (value) => handleText(toLines(value)))
      .on('openTag', (name, attributes) => {
        this.#unparsed = 0
        this.#depth += 1
        this.#elements += 1
        if (this.#depth > DEPTH_MAX || this.#elements > ELEMENTS_MAX) {
          fail('the workbook has too many elements')
        }
        open(localName(name), (name) => {
          const value = findAttribute(attributes(), name)
          return value === undefined ? undefined : decode(value)
        })
      })
      .on('closeTag', (name) => {
        this.#unparsed = 0
        this.#depth -= 1
        close?.(localName(name))
      })
  }

  /** @throws InvalidWorkbook, and what the handler throws */
  write(text: string): void {
    this.#unparsed += text.length
    this.#parser.write(text)
    if (this.#unparsed > TOKEN_LENGTH_MAX) fail('the workbook has text that is too long')
  }

  /**
   * Reads a whole document instead of parts.
   *
   * @throws InvalidWorkbook, and what the handler throws
   */
  parse(text: string): void {
    this.#parser.parse(text)
  }

  /** Ignores the rest. Called by a handler. */
  stop(): void {
    this.#parser.stop()
  }

  /** @throws InvalidWorkbook, and what the handler throws */
  end(): void {
    this.#parser.end()
  }
}

const CHARACTERS: { readonly [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

/** saxen decodes characters outside of the basic multilingual plane as others. */
function decode(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\dA-Fa-f]{1,6})|(amp|lt|gt|quot|apos));/g,
    (entity, decimal, hex, name) => {
      if (name !== undefined) return CHARACTERS[name] ?? ''
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code > CODE_POINT_MAX ? entity : String.fromCodePoint(code)
    },
  )
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function findAttribute(
  attributes: Readonly<Record<string, string>>,
  name: string,
): string | undefined {
  if (Object.hasOwn(attributes, name)) return attributes[name]
  return Object.entries(attributes).find(([key]) => localName(key) === name)?.[1]
}

function fail(message: string): never {
  throw new InvalidWorkbook(message)
}
