import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * Accepts files that are dropped anywhere on the page.
 *
 * @param onFiles undefined to ignore them. Without any handler, a browser would leave the page and open the file.
 * @returns whether files are being dragged over the page, and would be accepted
 */
export function useFileDrop(onFiles: ((files: readonly File[]) => void) | undefined): boolean {
  const [isOver, setOver] = useState(false)
  const handler = useRef(onFiles)
  handler.current = onFiles
  useEffect(() => {
    const listeners = new AbortController()
    const listen = (
      type: 'dragenter' | 'dragover' | 'dragleave' | 'drop',
      listener: (event: DragEvent, data: DataTransfer) => void,
    ) =>
      window.addEventListener(
        type,
        (event) => {
          if (event.dataTransfer?.types.includes('Files')) listener(event, event.dataTransfer)
        },
        { signal: listeners.signal },
      )
    listen('dragenter', () => setOver(true))
    listen('dragover', (event, data) => {
      event.preventDefault()
      data.dropEffect = handler.current === undefined ? 'none' : 'copy'
    })
    // There is no related element when the pointer leaves the window.
    listen('dragleave', (event) => event.relatedTarget === null && setOver(false))
    listen('drop', (event, data) => {
      event.preventDefault()
      setOver(false)
      if (data.files.length > 0) handler.current?.([...data.files])
    })
    return () => listeners.abort()
  }, [])
  return isOver && onFiles !== undefined
}
