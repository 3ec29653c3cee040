/** The metrics of both engines, as operators and a real Prometheus see them. */
import t from 'tap'
import { until } from '../helpers/processes/until.ts'
import { alertOperands, alerts, dashboardExpressions, documentation } from './expressions.ts'
import { COMMON, documentedMetrics, servedMetrics } from './metrics-page.ts'
import { type ObservedService, PostgresService, SqliteService } from './observed-service.ts'
import { MISSING, Prometheus, promtool, type Sample } from './prometheus.ts'

const [sqlite, postgres] = await Promise.all([SqliteService.start(t), PostgresService.start(t)])
const services: readonly ObservedService[] = [sqlite, postgres]

t.test('docs/monitoring.md explains the metrics that the service has', async (t) => {
  await useAll()
  const sections = new Map([
    [sqlite, 'PostgreSQL'],
    [postgres, 'SQLite'],
  ])
  for (const [service, others] of sections) {
    const hasLabels = async () => /^plant_store_webhook_lag_seconds{/m.test(await service.metrics())
    await until('a webhook that this process delivers', hasLabels)
    const served = servedMetrics(await service.metrics()).filter(({ name }) => !COMMON.test(name))
    t.strictSame(served, documentedMetrics(documentation, others))
  }
})

t.test('promtool has no complaints about the metrics', { skip: MISSING }, async (t) => {
  for (const service of services) {
    const { status, stderr } = promtool(['check', 'metrics'], await service.metrics())
    t.strictSame({ status, stderr }, { status: 0, stderr: '' })
  }
})

t.test('Prometheus scrapes both engines', { skip: MISSING }, async (t) => {
  const targets = services.map(({ target }) => target)
  const prometheus = await Prometheus.start(t, targets)
  await until('both services are up', async () => {
    const up = await prometheus.query('up{job="plant-store"} == 1')
    return up.length === services.length
  })
  // After the first scrape, so that Prometheus sees the increase.
  await sqlite.causeCheckpoint()

  /** Uses the services until an expression has a result. */
  const evaluate = async (expression: string): Promise<void> => {
    await until(`a result of ${expression}`, async () => {
      const samples: Sample[] = await prometheus.query(expression)
      if (samples.some(({ value }) => !Number.isNaN(value))) return true
      await useAll()
      return false
    })
  }

  await t.test('each metric is stored', async (t) => {
    for (const service of services) {
      const metrics = servedMetrics(await service.metrics())
      t.ok(metrics.length > 0)
      for (const { name, type } of metrics) {
        const series = type === 'histogram' || type === 'summary' ? `${name}_count` : name
        await evaluate(`${series}{instance="${service.target}"}`)
      }
    }
  })

  const expressions = { alertOperands, dashboardExpressions }
  for (const [name, list] of Object.entries(expressions)) {
    await t.test(`each of the ${name} has a result`, async (t) => {
      t.ok(list.length > 0)
      for (const expression of list) await evaluate(expression)
    })
  }

  await t.test('each alert is evaluated', async (t) => {
    await until('all alerts are evaluated', async () => {
      const rules = await prometheus.rules()
      return rules.every(({ health }) => health !== 'unknown')
    })
    const rules = await prometheus.rules()
    t.same(
      rules.map(({ name, health }) => [name, health]),
      alerts.map(({ alert }) => [alert, 'ok']),
    )
  })

  await t.test('a service that has ended raises an alert', async () => {
    await sqlite.stop()
    const down = `ALERTS{alertname="PlantStoreDown", instance="${sqlite.target}"}`
    await until(down, async () => (await prometheus.query(down)).length > 0)
  })
})

async function useAll(): Promise<void> {
  await Promise.all(services.map((service) => service.useOnce()))
}
