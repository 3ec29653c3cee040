import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { alerts, documentation } from './expressions.ts'
import { MISSING, promtool } from './prometheus.ts'

const TESTS = 'test/observing/alerts.yml'

const CHECKS: Readonly<Record<string, readonly string[]>> = {
  // This includes the rules.
  'the configuration is valid': [
    ...['check', 'config', '--lint=all', '--lint-fatal'],
    'deploy/prometheus/prometheus.yml',
  ],
  'each alert fires when it should, and only then': ['test', 'rules', TESTS],
}

for (const [name, args] of Object.entries(CHECKS)) {
  t.test(name, { skip: MISSING }, async (t) => {
    const { status, stdout, stderr } = promtool(args)
    t.strictSame({ status, stderr }, { status: 0, stderr: '' }, stdout)
  })
}

interface UnitTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string
      readonly exp_alerts: readonly unknown[]
    }[]
  }[]
}

t.test('each alert has a unit test in which it fires, and one in which it does not', async (t) => {
  const { tests }: UnitTests = parse(readFileSync(TESTS, 'utf8'))
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test)
  for (const { alert } of alerts) {
    const expected = cases.filter(({ alertname }) => alertname === alert)
    t.ok(
      expected.some(({ exp_alerts }) => exp_alerts.length > 0),
      `${alert} fires`,
    )
    t.ok(
      expected.some(({ exp_alerts }) => exp_alerts.length === 0),
      `${alert} does not fire`,
    )
  }
})

t.test('docs/monitoring.md says for each alert what to do', async (t) => {
  const headings = documentation.matchAll(/^### (PlantStore\w+)$/gm)
  t.same(
    Array.from(headings, ([, alert]) => alert),
    alerts.map(({ alert }) => alert),
  )
  for (const { alert, labels, annotations } of alerts) {
    t.match(labels.severity, /^(critical|warning)$/, alert)
    t.match(annotations, { summary: /./, description: /./ }, alert)
    t.equal(annotations.runbook, `docs/monitoring.md#${alert.toLowerCase()}`)
  }
})
