import type { PlantStore } from '../../service/plant-store.ts'
import type { TokenStore } from '../../service/token-store.ts'

/** Plants and tokens in one database. */
export interface Store extends PlantStore, TokenStore {
  /** Completes the calls in flight, then closes the database. Further calls have no effect. */
  close(): Promise<void>
}
