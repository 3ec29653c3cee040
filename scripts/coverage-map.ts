/**
 * Tells tap which tests count for the coverage. Those of many processes or of a browser, those
 * that make up many requests, and those that have run on the other engine see no more of the sources, and take
 * a quarter less time if nobody counts.
 */
const UNCOUNTED =
  /^test\/(browser|crash|failover|faults|hostile|replicas|scripts|http\/(model|on-postgres|properties))\b/

/** @returns the sources that count: none, or all that the test comes by */
export default function coverageOf(test: string): null | [] {
  return UNCOUNTED.test(test) ? null : []
}
