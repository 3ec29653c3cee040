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

/** The metrics of any process with Node, which the documentation does not list. */
export const COMMON = /^process_|^nodejs_(?!eventloop_delay_)/

/** An item such as ``- `name` (`label`, `label`): …``. */
const ITEM = /^- `(\w+)`(?: \(([^)]*)\))?:/gm

/**
 * Reads the lists of the documentation, without that of backups, which the service does not serve.
 *
 * @param excluded the heading of a section whose metrics the service does not have
 */
export function documentedMetrics(documentation: string, excluded: string): Metric[] {
  const sections = documentation
    .split(/^##+ /m)
    .filter((text) => !text.startsWith(excluded) && !text.startsWith('Backups'))
  const items = sections.flatMap((text) => [...text.matchAll(ITEM)])
  return byName(
    items.map(([, name = '', labels = '']) => ({
      name,
      type: typeOf(name),
      labels: sorted(Array.from(labels.matchAll(/`(\w+)`/g), ([, label = '']) => label)),
    })),
  )
}

/** The type of a metric according to the documentation. */
function typeOf(name: string): string {
  if (name.endsWith('_total')) return 'counter'
  return /_duration_seconds$|^plant_store_commit_changes$/.test(name) ? 'histogram' : 'gauge'
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}

function byName(metrics: readonly Metric[]): Metric[] {
  return metrics.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
