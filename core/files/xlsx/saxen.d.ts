declare module 'saxen' {
  /** Throws errors of handlers. */
  export class Parser {
    on(event: 'error', handle: (error: Error) => void): this
    on(event: 'attention' | 'cdata' | 'text', handle: (text: string) => void): this
    on(event: 'closeTag', handle: (name: string) => void): this
    on(
      event: 'openTag',
      handle: (name: string, attributes: () => Record<string, string>) => void,
    ): this
    /** A `>` in an attribute whose end is not in the same text ends the tag. */
    write(xml: string): this
    stop(): void
    end(): void
    parse(xml: string): void
  }
}
