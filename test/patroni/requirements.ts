/** What the test needs, and does not install. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, globSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import type { User } from './daemon.ts'

const PROGRAMS = [
  { name: 'postgres', package: 'postgresql', folders: postgresFolders() },
  { name: 'patroni', package: 'patroni', folders: [] },
  { name: 'etcd', package: 'etcd-server', folders: [] },
  { name: 'haproxy', package: 'haproxy', folders: ['/usr/sbin'] },
]

/** Describes what is missing, and the packages of Debian that contain it; undefined if nothing is. */
export function missingRequirements(): string | undefined {
  if (process.platform !== 'linux')
    return 'it needs Linux, because each node has an address of 127.0.0.0/8'
  const missing = PROGRAMS.filter(({ name, folders }) => programPath(name, folders) === undefined)
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ')
    const packages = missing.map((program) => program.package).join(' ')
    return `not installed: ${names}. On Debian: apt-get install ${packages}`
  }
  if (process.getuid?.() === 0 && idOf('-u') === undefined) {
    return 'PostgreSQL refuses to run as root, and there is no user postgres'
  }
  return undefined
}

/** The path of a program that is not missing. */
export function program(name: string): string {
  const folders = PROGRAMS.find((each) => each.name === name)?.folders ?? []
  return programPath(name, folders) as string
}

/** The folder of PostgreSQL's programs. */
export function serverPrograms(): string {
  return dirname(program('postgres'))
}

/** Debian's folders of PostgreSQL's programs, the newest version first. */
function postgresFolders(): string[] {
  const versions = globSync('/usr/lib/postgresql/*').map((folder) => Number(basename(folder)))
  return versions
    .sort((one, other) => other - one)
    .map((version) => `/usr/lib/postgresql/${version}/bin`)
}

/** The user of Debian's PostgreSQL, because a server refuses to run as root. */
export function serverUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  return { uid: Number(idOf('-u')), gid: Number(idOf('-g')) }
}

function programPath(name: string, folders: readonly string[]): string | undefined {
  const all = [...folders, ...(process.env.PATH ?? '').split(delimiter)]
  return all.map((folder) => join(folder, name)).find(isExecutable)
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
