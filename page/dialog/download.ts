/** How long a browser can take to start saving. */
const SAVE_MS = 60_000

/** Saves a file as a download. */
export function download(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), SAVE_MS)
}
