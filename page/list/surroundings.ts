import type { Surroundings } from './change-feed.ts'

let connection = new AbortController()
addEventListener('offline', () => {
  connection.abort()
  connection = new AbortController()
})

export const browser: Surroundings = {
  visible: () =>
    document.visibilityState === 'visible'
      ? Promise.resolve()
      : new Promise((resolve) => {
          document.addEventListener('visibilitychange', () => resolve(), { once: true })
        }),
  connection: () => connection.signal,
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
