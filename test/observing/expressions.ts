/** The PromQL expressions that operators get: alerts and the dashboard. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly datasource?: { readonly uid: string }
  readonly targets?: readonly {
    readonly expr: string
    readonly refId: string
    readonly datasource: { readonly uid: string }
  }[]
}

interface Dashboard {
  readonly uid: string
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string }[]
  }
  readonly panels: readonly Panel[]
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Alert[] }[]
}

/** The values of the dashboard's variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  $__rate_interval: '5m',
  $instance: '.*',
}

export const documentation = read('docs/monitoring.md')

export const dashboard: Dashboard = JSON.parse(read('deploy/grafana/plant-store.json'))

export const alerts = (
  parse(read('deploy/prometheus/plant-store.rules.yml')) as RuleFile
).groups.flatMap(({ rules }) => rules)

/**
 * The alerts' operands: as long as nothing is wrong, comparisons have no result. Without the figures of backups, which the
 * service does not serve.
 */
export const alertOperands = alerts
  .flatMap(({ expr }) => expr.replaceAll('\n', ' ').split(/ (?:and|or|==|[<>/]) /))
  .filter((operand) => !operand.includes('plant_store_backup_'))

export const dashboardExpressions = dashboard.panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) =>
    expr.replaceAll(/\$\w+/g, (variable) => VARIABLES[variable] ?? variable),
  ),
)

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}
