/**
 * `npm run bench`: compares the service with a bare Fastify that stores nothing (the ceiling), and with common designs,
 * another commit, other settings or other numbers of plants. README.md explains the figures.
 */
import { Option } from 'commander'
import { benchmark, type Options as Common, parseNumbers } from './bench-options.ts'
import { count } from './figures/statistics.ts'
import { runBenchmark } from './report.ts'
import { checkOut, describeWorkingTree } from './servers/checkout.ts'
import {
  BARE_SERVERS,
  bareSubject,
  OWN_PROGRAM,
  type Subject,
  serviceSubject,
} from './servers/subjects.ts'

const STORED = [100_000]
const SERVICE = 'plant store'
const ALL_SUBJECTS = [...BARE_SERVERS, SERVICE] as const

interface Options extends Common {
  readonly compare?: string
  readonly with?: string
  readonly stored: readonly number[]
  readonly subjects?: readonly (typeof ALL_SUBJECTS)[number][]
}

const options = benchmark('bench', 'compare the service with other designs, versions and settings')
  .option(
    '--compare <commit>',
    'compare this working tree with a commit, and both with the ceiling',
  )
  .option('--with <arguments>', 'compare the service with itself, started with these arguments')
  .addOption(
    new Option('--stored <numbers...>', 'plants stored before the load')
      .default(STORED)
      .argParser(parseNumbers(STORED)),
  )
  .addOption(new Option('--subjects <subjects...>', 'what to measure').choices(ALL_SUBJECTS))
  .parse()
  .opts<Options>()

const services = options.stored.flatMap((stored) => {
  const suffix = options.stored.length > 1 ? `, ${count(stored)} plants` : ''
  const own = { name: SERVICE + suffix, title: 'this service', color: '#2f855a', stored }
  return [
    ...otherCommit(stored, suffix),
    serviceSubject({ ...own, program: OWN_PROGRAM }),
    ...variant(stored, suffix),
  ]
})
// Alone, the service is compared with conventional servers too.
const isPlain = services.length === 1
const wanted = options.subjects ?? (isPlain ? ALL_SUBJECTS : ['ceiling', SERVICE])
const bare = BARE_SERVERS.filter((name) => wanted.includes(name)).map((name) =>
  bareSubject(name, options.stored[0] as number),
)
const subjects: Subject[] = wanted.includes(SERVICE) ? [...bare, ...services] : bare
await runBenchmark({
  subjects,
  baselines: [subjects[0], services[0]].flatMap((subject) => subject?.name ?? []),
  options,
  conditions: options.compare === undefined ? [] : [`${SERVICE} is ${describeWorkingTree()}`],
  charts: {
    results: {
      title: 'Requests per second, and the ratio to a bare Fastify that stores nothing',
      figure: 'perSecond',
      length: 'figure',
    },
    'results-cpu': {
      title: 'Processor time per request, and the ratio to a bare Fastify (less is better)',
      figure: 'cpuUs',
      length: 'figure',
    },
  },
})

/** The commit of `--compare`, if it is given. */
function otherCommit(stored: number, suffix: string): Subject[] {
  if (options.compare === undefined) return []
  const { name, program } = checkOut(options.compare)
  return [serviceSubject({ name: name + suffix, title: name, color: '#4a6fa5', stored, program })]
}

/** The service with the arguments of `--with`, if they are given. */
function variant(stored: number, suffix: string): Subject[] {
  if (options.with === undefined) return []
  const flags = options.with.split(' ')
  const named = { name: options.with + suffix, title: options.with, color: '#7a5ea8' }
  return [serviceSubject({ ...named, stored, program: OWN_PROGRAM, flags })]
}
