/**
 * The tests that do not count toward coverage: they start many processes or a browser, generate many requests, or repeat
 * other tests on PostgreSQL. They reach nothing that other tests do not, and are a quarter faster without measurement.
 */
const UNCOUNTED =
  /^test\/(browser|crash|failover|faults|hostile|replicas|scripts|http\/(model|on-postgres|properties))\b/

/** Tells tap what a test covers: nothing (null), or every source that it loads (an empty list). */
export default function mapCoverage(test: string): null | [] {
  return UNCOUNTED.test(test) ? null : []
}
