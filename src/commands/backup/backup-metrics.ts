import { renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** The figures of the backups in a folder. */
export interface BackupFigures {
  readonly folder: string
  readonly intervalMs: number
  /** When the newest backup began; undefined if there is none. */
  readonly newest: Date | undefined
}

/**
 * Replaces a file with metrics in Prometheus's text format, for the textfile collector of node_exporter. Other users can
 * read it, because the collector runs as a different user. The temporary name does not end with `.prom`, so the collector
 * ignores it.
 */
export function writeBackupMetrics(file: string, figures: BackupFigures): void {
  const draft = `${file}.partial`
  writeFileSync(draft, formatMetrics(figures), { mode: 0o644 })
  renameSync(draft, file)
}

function formatMetrics({ folder, intervalMs, newest }: BackupFigures): string {
  const escaped = resolve(folder)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
  const gauge = (name: string, help: string, value: number) =>
    `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name}{folder="${escaped}"} ${value}\n`
  return (
    gauge(
      'plant_store_backup_newest_timestamp_seconds',
      'When the newest backup began, or 0 without one.',
      (newest?.getTime() ?? 0) / 1000,
    ) +
    gauge('plant_store_backup_interval_seconds', 'The interval between backups.', intervalMs / 1000)
  )
}
