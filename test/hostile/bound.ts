/** The memory bound that docs/operating.md states, in MiB. */
export const MEMORY_MAX = 1024
