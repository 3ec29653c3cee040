import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'

/** The folder of this checkout. */
export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

/** The token of the services that `startService` starts. */
export const TOKEN = 'sixteen-letters.'

const run = promisify(execFile)

/** Creates a folder outside the checkout, whose dependencies Node would otherwise find. Removed with the test. */
export function emptyFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-package-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Packed {
  readonly filename: string
  /** In bytes. */
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

/** Packs the checkout into a folder. */
export async function pack(folder: string): Promise<Packed> {
  const tools = new Tools(process.execPath, folder)
  const json = await tools.run(CHECKOUT, 'npm', 'pack', '--json', '--pack-destination', folder)
  return JSON.parse(json)[0]
}

/** Downloads a version of Node, such as `22`. Resolves to the path of its program. */
export async function fetchNode(folder: string, version: string): Promise<string> {
  if (process.versions.node.startsWith(`${version}.`)) return process.execPath
  const project = join(folder, `node-${version}`)
  mkdirSync(project)
  // The package downloads the program for this machine with an install script.
  writeFileSync(join(project, 'package.json'), '{"allowScripts": {"node": true}}')
  await new Tools(process.execPath, project).run(project, 'npm', 'install', `node@${version}`)
  return join(project, 'node_modules/node/bin/node')
}

/** A `PATH` with only Node, npm and a shell, so that no compiler is found. */
export class Tools {
  readonly environment: NodeJS.ProcessEnv

  /** @param folder the folder in which links to them are created */
  constructor(node: string, folder: string) {
    const tools = mkdtempSync(join(folder, 'tools-'))
    const npm = dirname(realpathSync(which('npm')))
    symlinkSync(node, join(tools, 'node'))
    symlinkSync(join(npm, 'npm-cli.js'), join(tools, 'npm'))
    symlinkSync(join(npm, 'npx-cli.js'), join(tools, 'npx'))
    symlinkSync(which('sh'), join(tools, 'sh'))
    const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name))
    this.environment = { ...Object.fromEntries(kept), PATH: tools }
  }

  /** Runs a command in a folder. Resolves to its standard output; rejects if it fails. */
  async run(folder: string, command: string, ...args: string[]): Promise<string> {
    const { stdout } = await run(command, args, { cwd: folder, env: this.environment })
    return stdout
  }
}

/** The machine's environment and its settings for npm, without the variables that tap and npm add. */
const KEPT =
  /^(HOME|TMPDIR|LANG|.*_proxy|NODE_EXTRA_CA_CERTS|npm_config_(cache|registry|globalconfig|userconfig))$/i

function which(program: string): string {
  const folders = String(process.env.PATH).split(delimiter)
  const found = folders.map((folder) => join(folder, program)).find((file) => existsSync(file))
  if (found === undefined) throw new Error(`there is no ${program}`)
  return found
}

/**
 * Starts the service on a free port. Resolves once it listens.
 *
 * @param args the command and its arguments
 */
export async function startService(
  t: Test,
  { environment }: Pick<Tools, 'environment'>,
  project: string,
  args: readonly string[],
) {
  const options = ['--port', '0', '--log-level', 'silent', '--ready-json']
  const [command = '', ...rest] = [...args, ...options]
  const start = performance.now()
  const child = spawn(command, rest, {
    cwd: project,
    env: { PLANT_STORE_TOKEN: TOKEN, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  // The whole process group, because npm and npx start processes of their own.
  const kill = (signal: NodeJS.Signals) => process.kill(-Number(child.pid), signal)
  t.teardown(() => {
    if (child.exitCode === null && child.signalCode === null) kill('SIGKILL')
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const milliseconds = performance.now() - start
  const stop = async () => {
    kill('SIGTERM')
    // Waits for the service too, because it shares the pipe.
    await once(child, 'close')
  }
  return { url: JSON.parse(line).url as string, milliseconds, stop }
}

/** Asserts that a service has the page. */
export async function checkPage(t: Test, url: string): Promise<void> {
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  t.match(await page.text(), 'page/main.js')
  t.equal((await fetch(`${url}/page/main.js`)).status, 200)
}
