/** Replaces control characters with JSON escapes, so that quoted input cannot control the user's terminal. */
export function escapeControlCharacters(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))
}
