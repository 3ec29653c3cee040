import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 make every object young. By itself it decides by the first seconds in which places of the program
 * objects live long, and makes them old there from then on. With many clients those are objects of requests:
 * as garbage they keep what they refer to until the next full collection, and each small one takes ten
 * times as long as it should.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
