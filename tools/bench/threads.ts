/**
 * `npm run bench:threads`: measures the service with one, two, four and eight HTTP threads, each limited to a tenth of
 * a core, so that a small machine shows what more cores would give. README.md explains the figures.
 */
import { Option } from 'commander'
import { benchmark, type Options as Common, parseNumbers } from './bench-options.ts'
import { percent } from './figures/statistics.ts'
import { httpThreads } from './processor-time.ts'
import { runBenchmark } from './report.ts'
import { CORE_SHARE, limitTo, whyUnlimited } from './servers/cgroups.ts'
import type { Server } from './servers/servers.ts'
import { OWN_PROGRAM, serviceSubject } from './servers/subjects.ts'

const THREADS = [1, 2, 4, 8]

/** From one thread to many. */
const COLORS = ['#b8c0cc', '#e8b84a', '#4a6fa5', '#2f855a']

interface Options extends Common {
  readonly threads: readonly number[]
}

/**
 * Linux distributes connections by a hash, so some threads get fewer. 32 are enough to keep all of them busy. More
 * would only add the cost of accepting them, which a tenth of a core takes long to pay.
 */
const options = benchmark('bench:threads', 'measure HTTP threads that are limited in speed', {
  connections: 32,
  kinds: ['read', 'page', 'sequential'],
  seconds: 3,
  rounds: 3,
})
  .addOption(
    new Option('--threads <numbers...>', 'numbers of HTTP threads')
      .default(THREADS)
      .argParser(parseNumbers(THREADS)),
  )
  .parse()
  .opts<Options>()

const unlimited = whyUnlimited()
if (unlimited !== undefined) {
  console.log(`HTTP threads are not limited, so more do not help without cores: ${unlimited}`)
}
const subjects = options.threads.map((count, index) => {
  const name = `${count} thread${count === 1 ? '' : 's'}`
  return serviceSubject({
    name,
    title: name,
    color: COLORS[index % COLORS.length] ?? '',
    stored: 100_000,
    // Each thread has its own connections and compiles its own code.
    size: count,
    program: OWN_PROGRAM,
    flags: ['--threads', String(count)],
    limit: ([server]) => limitHttp(server, count),
  })
})
await runBenchmark({
  subjects,
  baselines: subjects.slice(0, 1).map(({ name }) => name),
  options,
  each: ' per thread',
  conditions: [
    `HTTP threads: ${unlimited === undefined ? `${percent(CORE_SHARE)} of a core each` : 'unlimited'}`,
  ],
  charts: {
    threads: {
      title: 'Requests per second by number of HTTP threads, and the ratio to one',
      figure: 'perSecond',
      length: 'ratio',
    },
  },
})

/** Limits the HTTP threads of a service, if this system can do that. */
function limitHttp(server: Server | undefined, count: number): Disposable {
  if (unlimited !== undefined || server === undefined) return new DisposableStack()
  const { pid } = server
  const threads = httpThreads(pid)
  if (threads.length === count) return limitTo(CORE_SHARE, { pid, threads })
  throw new Error(`the service has ${threads.length} HTTP threads instead of ${count}`)
}
