/**
 * `npm run bench`: compares the service with a bare Fastify that stores nothing (the ceiling) and with common designs.
 * Subjects and kinds of load are interleaved over several rounds. README.md explains the figures.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Option } from 'commander'
import { type Measurement, toCharts, toResults, toTable } from './comparison.ts'
import { measureFsyncMs } from './disk.ts'
import { findGenerator } from './generator.ts'
import { warnIfBusy } from './machine.ts'
import { measure, type Run } from './measure.ts'
import { benchmark, describeConditions, type LoadOptions } from './options.ts'
import { printDoubts, printTable, writeResults } from './report.ts'
import { ALL_KINDS, type Kind } from './requests.ts'
import { median } from './statistics.ts'
import { ALL_SUBJECTS, SUBJECTS, type SubjectName } from './subjects.ts'

/** Plants stored before the load starts. */
const STORED = 100_000

interface Options extends LoadOptions {
  readonly kinds: Kind[]
  readonly subjects: SubjectName[]
}

const kindsOption = new Option('--kinds <kinds...>', 'kinds of load').choices(ALL_KINDS)
const subjectsOption = new Option('--subjects <subjects...>', 'subjects to measure').choices(
  ALL_SUBJECTS,
)
const { kinds, subjects, ...options } = benchmark('bench', 'compare the service with other designs')
  .addOption(kindsOption.default(ALL_KINDS))
  .addOption(subjectsOption.default(ALL_SUBJECTS))
  .parse()
  .opts<Options>()
const { rounds, seconds, warmUp, connections } = options

const { name: generator, generate } = await findGenerator()
const machine = describeConditions(generator, options)
console.log(machine)
const busyBefore = await warnIfBusy()

const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'))
try {
  const measurements: Measurement[] = []
  const alone: { fsync: number; run: Run }[] = []
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      for (const subject of subjects) {
        measurements.push({ subject, kind, run: await measureOnce(subject, kind, connections) })
      }
    }
    const fsync = measureFsyncMs(folder)
    alone.push({ fsync, run: await measureOnce('plant store', 'sequential', 1) })
  }
  const results = toResults(measurements)
  printTable(toTable(results), 2)
  const oneConnection = {
    fsyncP50: median(alone.map(({ fsync }) => fsync)),
    createP50: median(alone.map(({ run }) => run.p50)),
  }
  const [fsync, create] = Object.values(oneConnection).map((time) => `${time.toFixed(2)} ms`)
  console.log(`\n1 connection: fsync p50 ${fsync}, create p50 ${create}`)
  printDoubts([...measurements, ...alone].map(({ run }) => run))
  const json = { machine, busyBefore, stored: STORED, results, oneConnection }
  await writeResults(join(options.output, 'results'), json, toCharts(results, machine))
} finally {
  await rm(folder, { recursive: true })
}

async function measureOnce(subject: SubjectName, kind: Kind, connections: number) {
  const files = join(folder, 'one')
  await mkdir(files)
  try {
    const file = join(files, 'plants.db')
    await SUBJECTS[subject].fill?.(file, STORED)
    const load = { kind, connections, seconds, warmUp, first: STORED + 1, stored: STORED }
    return await measure(subject, file, load, generate)
  } finally {
    await rm(files, { recursive: true })
  }
}
