import type { HistogramFigures } from '../../src/shared-memory/shared-histogram.ts'

/** The number of values in a histogram. */
export function countOf({ counts }: HistogramFigures): number {
  return counts.reduce((sum, each) => sum + each, 0)
}
