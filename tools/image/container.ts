import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** What the Docker configuration of an image says about its process. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly WorkingDir: string
}

/** The root file system of a container, and how to start it. */
export interface Image {
  readonly root: string
  readonly config: ImageConfig
  /** A folder for the runtime's state. */
  readonly folder: string
}

/** Where the image keeps its data. */
export const VOLUME = '/data'

let containers = 0

/**
 * A container of an image, started as `docker run --read-only --cap-drop ALL --security-opt no-new-privileges` would
 * start it: only the volume is writable.
 */
export class Container {
  output = ''
  readonly #id = `plant-store-${++containers}`
  readonly #image: Image
  readonly #process: ChildProcess
  readonly #exit: Promise<unknown[]>

  constructor(image: Image, volume: string) {
    this.#image = image
    const bundle = join(image.folder, this.#id)
    mkdirSync(bundle)
    execFileSync('crun', ['spec'], { cwd: bundle })
    const file = join(bundle, 'config.json')
    const specification = specify(image, volume, JSON.parse(readFileSync(file, 'utf8')))
    writeFileSync(file, JSON.stringify(specification))

    this.#process = spawn('crun', this.#arguments('run', '--bundle', bundle, this.#id), {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#exit = once(this.#process, 'close')
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (chunk) => {
        this.output += chunk
      })
    }
  }

  /** Resolves once the output matches; rejects if the container ends first. */
  async says(pattern: RegExp): Promise<void> {
    let ended = false
    const exit = this.#exit.then(() => {
      ended = true
    })
    while (!pattern.test(this.output)) {
      if (ended) throw new Error(`the container ended without ${pattern}`)
      const outputs = [this.#process.stdout, this.#process.stderr]
      await Promise.race([exit, ...outputs.map((stream) => stream && once(stream, 'data'))])
    }
  }

  /** Runs a command as the image's user, as `docker exec` does. Rejects if it fails. */
  async exec(command: readonly string[]): Promise<string> {
    const args = this.#arguments('exec', '--user', this.#image.config.User, this.#id, ...command)
    return (await promisify(execFile)('crun', args)).stdout
  }

  /** The `/proc/…/status` of the container's first process. */
  status(): string {
    const state = execFileSync('crun', this.#arguments('state', this.#id), { encoding: 'utf8' })
    return readFileSync(`/proc/${JSON.parse(state).pid}/status`, 'utf8')
  }

  /** Sends SIGTERM to the first process, as `docker stop` does. Resolves to the exit code. */
  async stop(): Promise<number> {
    execFileSync('crun', this.#arguments('kill', this.#id, 'TERM'))
    const [code] = await this.#exit
    return Number(code)
  }

  #arguments(...args: readonly string[]): string[] {
    const state = join(this.#image.folder, 'containers')
    return ['--root', state, '--cgroup-manager', 'disabled', ...args]
  }
}

interface Specification {
  readonly process: Readonly<Record<string, unknown>>
  readonly mounts: readonly { readonly type: string }[]
  readonly linux: {
    readonly namespaces: readonly { readonly type: string }[]
    readonly resources: unknown
  }
}

/** Changes the runtime's default specification to that of a container of the image. */
function specify(image: Image, volume: string, defaults: Specification) {
  const { User, Env, Entrypoint, WorkingDir } = image.config
  const [uid, gid] = User.split(':').map(Number)
  // Limits that the test's own processes do not have, and control groups, which are off.
  const { rlimits, ...process } = defaults.process
  const { resources, ...linux } = defaults.linux
  return {
    ...defaults,
    root: { path: image.root, readonly: true },
    process: {
      ...process,
      terminal: false,
      user: { uid, gid },
      env: Env,
      args: Entrypoint,
      cwd: WorkingDir,
      capabilities: {},
      noNewPrivileges: true,
    },
    mounts: [
      ...defaults.mounts.filter(({ type }) => type !== 'cgroup'),
      { destination: VOLUME, type: 'bind', source: volume, options: ['rbind', 'rw'] },
    ],
    // The checks connect from outside the container, which a network of its own would prevent.
    linux: { ...linux, namespaces: linux.namespaces.filter(({ type }) => type !== 'network') },
  }
}
