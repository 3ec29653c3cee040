import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 allocate every object in the young generation. By default it decides during the first seconds which
 * allocation sites produce long-lived objects and allocates theirs in the old generation from then on. With many
 * clients it picks the sites of requests. As garbage they keep the objects they refer to alive until the next full
 * collection, and each minor collection takes ten times as long as necessary.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * Makes V8 collect garbage before it grows the heap. Records are short-lived, so an import or export is as fast with
 * half the memory.
 */
export function preferSmallHeap(): void {
  setFlagsFromString('--optimize-for-size')
}
