/** Control characters, those that change the direction of text, such as U+202E, and line separators. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

/**
 * Replaces control characters with the escapes of JSON, so that quoted input can neither control the user's terminal nor
 * appear as different text. JSON itself does not escape DEL, the C1 control characters, such as CSI, and others.
 */
export function escapeControlCharacters(text: string): string {
  return text.replace(CONTROLS, (control) =>
    control < ' '
      ? JSON.stringify(control).slice(1, -1)
      : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
