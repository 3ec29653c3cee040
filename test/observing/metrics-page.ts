/** The metrics that a service serves, and those that the documentation explains. */

export interface Metric {
  readonly name: string
  readonly type: string
  /** Sorted names. */
  readonly labels: readonly string[]
}

/** The labels that make up a histogram or a summary. */
const STRUCTURE = ['le', 'quantile']

/**
 * Reads a page in the format of https://prometheus.io/docs/instrumenting/exposition_formats/.
 *
 * @returns the metrics, sorted by name, with the labels of all of their samples
 */
export function servedMetrics(page: string): Metric[] {
  const types = page.matchAll(/^# TYPE (\w+) (\w+)$/gm)
  const metrics = Array.from(types, ([, name = '', type = '']) => {
    const suffix = type === 'histogram' || type === 'summary' ? '(?:_bucket|_sum|_count)?' : ''
    const samples = page.matchAll(new RegExp(`^${name}${suffix}\\{(.*)\\} `, 'gm'))
    const labels = Array.from(samples, ([, pairs = '']) =>
      Array.from(pairs.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g), ([, label = '']) => label),
    )
    return { name, type, labels: sorted(labels.flat().filter((each) => !STRUCTURE.includes(each))) }
  })
  return byName(metrics)
}

/** A row of a table such as `` | `name` | gauge | `label`, `label` | … | ``. */
const ROW = /^\| `(\w+)` \| (\w+) \| ([^|]*)\|/gm

/**
 * Reads the tables of the documentation.
 *
 * @param excluded the heading of a section whose metrics the service does not have
 */
export function documentedMetrics(documentation: string, excluded: string): Metric[] {
  const sections = documentation.split(/^##+ /m).filter((text) => !text.startsWith(excluded))
  const rows = sections.flatMap((text) => [...text.matchAll(ROW)])
  return byName(
    rows.map(([, name = '', type = '', labels = '']) => ({
      name,
      type,
      labels: sorted(Array.from(labels.matchAll(/`(\w+)`/g), ([, label = '']) => label)),
    })),
  )
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}

function byName(metrics: readonly Metric[]): Metric[] {
  return metrics.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
