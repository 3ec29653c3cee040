import { useEffect, useRef } from 'preact/hooks'

/** Where pasted text belongs. */
const FIELDS = 'input, textarea, select, [contenteditable]'

/**
 * Accepts cells of a spreadsheet that are pasted anywhere on the page, except in a field or a dialog.
 *
 * @param onFile undefined to ignore them
 */
export function usePaste(onFile: ((file: File) => void) | undefined): void {
  const handler = useRef(onFile)
  handler.current = onFile
  useEffect(() => {
    const listener = (event: ClipboardEvent) => {
      const { clipboardData, target } = event
      const text = clipboardData?.getData('text/plain') ?? ''
      if (handler.current === undefined || !/[\t\n\r]/.test(text)) return
      if (document.querySelector('dialog') !== null) return
      if (target instanceof Element && target.closest(FIELDS) !== null) return
      event.preventDefault()
      handler.current(new File([text], 'Pasted cells', { type: 'text/plain' }))
    }
    window.addEventListener('paste', listener)
    return () => window.removeEventListener('paste', listener)
  }, [])
}
