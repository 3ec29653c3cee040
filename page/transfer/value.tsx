import { shorten } from './refused-rows.ts'

/** A value from a file or of a plant. Undefined and empty ones differ. */
export function Value({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return <span class="hint">none</span>
  if (text === '') return <span class="hint">empty</span>
  // Isolated, because names can contain marks that reverse the text after them.
  return <bdi>{shorten(text)}</bdi>
}
