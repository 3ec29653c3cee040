/** Debian's Prometheus and promtool. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseDocument } from 'yaml'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import type { Owner } from '../helpers/processes/command.ts'

/** What operators copy. */
const CONFIGURATION = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url))

/** Shorter than in production, so that a test sees several scrapes. */
const INTERVAL = '500ms'

/** Whether the Debian package is missing, as a reason to skip a test. */
export const MISSING =
  ['prometheus', 'promtool'].some((program) => spawnSync(program, ['--version']).error) &&
  "requires Debian's prometheus"

export interface Sample {
  /** Its name is the label `__name__`. */
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The part of https://prometheus.io/docs/prometheus/latest/querying/api/ that the tests use. */
interface Reply<Data> {
  readonly status: 'success' | 'error'
  readonly error?: string
  readonly data: Data
}

type Point = readonly [seconds: number, value: string]

type QueryResult =
  | { readonly resultType: 'scalar'; readonly result: Point }
  | {
      readonly resultType: 'vector'
      readonly result: readonly { metric: Sample['labels']; value: Point }[]
    }

export interface Rule {
  readonly name: string
  /** `ok` once the rule has been evaluated without an error. */
  readonly health: 'ok' | 'err' | 'unknown'
  readonly state: 'inactive' | 'pending' | 'firing'
  readonly lastError?: string
}

/** A server with the configuration from deploy/, apart from its targets and intervals. */
export class Prometheus {
  readonly #url: string

  private constructor(url: string) {
    this.#url = url
  }

  /**
   * Starts a server, which is killed when the test ends.
   *
   * @param targets hosts with ports
   */
  static async start(t: Owner, targets: readonly string[]): Promise<Prometheus> {
    const folder = makeFolder(t, inMemory())
    cpSync(CONFIGURATION, folder, { recursive: true })
    const file = join(folder, 'prometheus.yml')
    const configuration = parseDocument(readFileSync(file, 'utf8'))
    configuration.setIn(['global', 'scrape_interval'], INTERVAL)
    configuration.setIn(['global', 'evaluation_interval'], INTERVAL)
    configuration.setIn(['scrape_configs', 0, 'static_configs', 0, 'targets'], targets)
    writeFileSync(file, configuration.toString())

    const server = spawn(
      'prometheus',
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        '--web.listen-address=127.0.0.1:0',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const closed = once(server, 'close')
    t.teardown(async () => {
      server.kill('SIGKILL')
      await closed
    })
    let log = ''
    for await (const line of createInterface(server.stderr)) {
      log += `${line}\n`
      if (line.includes('Server is ready')) break
    }
    const address = /msg="Listening on" .*address=(\S+)/.exec(log)?.[1]
    if (address === undefined) throw new Error(`Prometheus does not listen: ${log}`)
    server.stderr.resume()
    return new Prometheus(`http://${address}/api/v1`)
  }

  /** Evaluates an expression. Rejects if it is invalid. */
  async query(expression: string): Promise<Sample[]> {
    const parameters = new URLSearchParams({ query: expression })
    const data = await this.#get<QueryResult>(`/query?${parameters}`)
    if (data.resultType === 'scalar') return [{ labels: {}, value: toNumber(data.result[1]) }]
    return data.result.map(({ metric, value }) => ({ labels: metric, value: toNumber(value[1]) }))
  }

  async rules(): Promise<readonly Rule[]> {
    const data = await this.#get<{ groups: readonly { rules: readonly Rule[] }[] }>('/rules')
    return data.groups.flatMap(({ rules }) => rules)
  }

  async #get<Data>(path: string): Promise<Data> {
    const response = await fetch(this.#url + path)
    const { status, error, data } = (await response.json()) as Reply<Data>
    if (status === 'error') throw new Error(`${error} for ${decodeURIComponent(path)}`)
    return data
  }
}

/** Prometheus writes infinity as `+Inf` or `-Inf`. */
function toNumber(text: string): number {
  return Number(text.replace('Inf', 'Infinity'))
}

/** Runs promtool in the project's folder. A file without findings has the status 0 and no `stderr`. */
export function promtool(args: readonly string[], input = '') {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, input, encoding: 'utf8' })
  return { status, stdout, stderr }
}
