/** What the test needs, and does not install. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, globSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import type { User } from './daemon.ts'

/** Each program, and the package of Debian that contains it. */
const PACKAGES: Readonly<Record<string, string>> = {
  postgres: 'postgresql',
  patroni: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
}

/** Lets programs be found where Debian installs them: the newest PostgreSQL, and what only root usually runs. */
export function extendPath(): void {
  const versions = globSync('/usr/lib/postgresql/*').map((folder) => Number(basename(folder)))
  const newest = `/usr/lib/postgresql/${Math.max(...versions)}/bin`
  process.env.PATH = [newest, '/usr/sbin', process.env.PATH].join(delimiter)
}

/** Describes what is missing; undefined if nothing is. */
export function missingRequirements(): string | undefined {
  if (process.platform !== 'linux')
    return 'it needs Linux, because each node has an address of 127.0.0.0/8'
  const missing = Object.keys(PACKAGES).filter((name) => pathOf(name) === undefined)
  if (missing.length > 0) {
    const packages = missing.map((name) => PACKAGES[name]).join(' ')
    return `not installed: ${missing.join(', ')}. On Debian: apt-get install ${packages}`
  }
  if (process.getuid?.() === 0 && idOf('-u') === undefined) {
    return 'PostgreSQL refuses to run as root, and there is no user postgres'
  }
  return undefined
}

/** The folder of PostgreSQL's programs. */
export function serverPrograms(): string {
  return dirname(pathOf('postgres') as string)
}

/** The user of Debian's PostgreSQL, because a server refuses to run as root. */
export function serverUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  return { uid: Number(idOf('-u')), gid: Number(idOf('-g')) }
}

function pathOf(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function idOf(option: '-u' | '-g'): string | undefined {
  try {
    return execFileSync('id', [option, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return undefined
  }
}
