import type { Surroundings } from './change-feed.ts'

export const browser: Surroundings = {
  visible: () =>
    document.visibilityState === 'visible'
      ? Promise.resolve()
      : new Promise((resolve) => {
          document.addEventListener('visibilitychange', () => resolve(), { once: true })
        }),
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
