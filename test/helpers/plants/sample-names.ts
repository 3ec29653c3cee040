import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'

const SAMPLE = new URL('../../../data/sample.csv', import.meta.url)

/** The names of the sample plants: 320 real ones, some of them with `×` and diacritics. */
export function sampleNames(): string[] {
  const plants = parse(readFileSync(SAMPLE), { columns: true }) as { name: string }[]
  return plants.map(({ name }) => name)
}
