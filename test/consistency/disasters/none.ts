import type { Disaster } from './disaster.ts'
import { Service } from './service.ts'

/** Nothing happens to a service with one HTTP thread. */
export const none: Disaster = {
  name: 'none',
  start: async ({ owner, folder }) => {
    const { urls } = await new Service(owner, folder).start()
    return { urls }
  },
}
