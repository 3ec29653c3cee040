import { execFile } from 'node:child_process'
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
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'

/** The folder of this checkout. */
export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

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
