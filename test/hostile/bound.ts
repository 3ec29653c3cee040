/** The memory bound that the README states, in MiB. */
export const MEMORY_MAX = 1024
