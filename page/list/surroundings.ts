import type { Surroundings } from './live-feed.ts'

let offline = new AbortController()
addEventListener('offline', () => {
  offline.abort()
  offline = new AbortController()
})

export const browser: Surroundings = {
  visible: () =>
    document.visibilityState === 'visible'
      ? Promise.resolve()
      : new Promise((resolve) => {
          document.addEventListener('visibilitychange', () => resolve(), { once: true })
        }),
  offline: () => offline.signal,
  pause: (milliseconds) =>
    new Promise((resolve) => {
      const timer = setTimeout(end, milliseconds)
      function end() {
        clearTimeout(timer)
        removeEventListener('online', end)
        resolve()
      }
      addEventListener('online', end)
    }),
}

/**
 * Whether a person is typing outside an element, so that it must not take the focus. It can appear late, because plants
 * are loaded as they come into view.
 */
export function isTypingOutside(element: Element): boolean {
  const { activeElement } = document
  return (
    activeElement?.matches('input, textarea, select') === true && !element.contains(activeElement)
  )
}
