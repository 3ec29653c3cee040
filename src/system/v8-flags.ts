import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 allocate every object in the young generation. By default, V8 decides within the first seconds which
 * allocation sites produce long-lived objects, and from then on allocates those objects in the old generation. With
 * many clients, it picks sites that allocate per request. Dead objects there keep everything they refer to alive until
 * the next full collection, and each minor collection takes ten times as long.
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
