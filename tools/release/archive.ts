/**
 * Archives that run on a Linux without Node. They contain the npm package, its dependencies, Node, and the one library
 * that Node needs and a minimal Debian lacks. The same inputs give the same bytes.
 */
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readManifest, writeJson } from './manifest.ts'
import { run } from './run.ts'

interface Architecture {
  readonly node: string
  readonly gcc: string
  /** Debian has the library for any machine in the packages of cross-compilers. */
  readonly libatomic: string
}

const ARCHITECTURES: readonly Architecture[] = [
  { node: 'x64', gcc: 'x86_64', libatomic: 'libatomic1-amd64-cross' },
  { node: 'arm64', gcc: 'aarch64', libatomic: 'libatomic1-arm64-cross' },
]

/** Declarations, source maps, lockfiles, links to commands, and what better-sqlite3 needs to be compiled. */
const UNUSED = /\.map$|\.[cm]?ts$|\/\.?package-lock\.json$|\/\.bin$|\/better-sqlite3\/(deps|src)$/

const BINARIES = /\/better-sqlite3\/prebuilds\/.*\.node$/

const LAUNCHER = fileURLToPath(new URL('./plant-store', import.meta.url))

/** The modification time of everything that npm packs. */
const MODIFIED = '1985-10-26T08:15:00Z'

/** The file in a stage that a download has given a name with a version. */
export function downloaded(stage: string, name: string): string {
  const [file] = globSync(join(stage, `${name}[-_]*.{tgz,deb}`))
  if (file === undefined) throw new Error(`${name} was not downloaded`)
  return file
}

/**
 * Installs an npm package in the folder `plant-store` of the stage, with the dependencies in this checkout's lockfile,
 * and downloads Node and libatomic to the stage.
 */
export async function fillStage(stage: string, npmPackage: string): Promise<void> {
  const folder = join(stage, 'plant-store')
  mkdirSync(folder)
  await run('tar', ['-xzf', npmPackage, '--strip-components=1'], folder)
  const { devDependencies, ...manifest } = readManifest(folder)
  writeJson(join(folder, 'package.json'), manifest)
  // Without development dependencies too, because `npm sbom --omit dev` would leave out packages that are needed both
  // in development and in production, such as `pg`.
  const { packages, ...lockfile } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  delete packages[''].devDependencies
  const production = Object.entries<{ dev?: boolean }>(packages).filter(([, { dev }]) => !dev)
  writeJson(join(folder, 'package-lock.json'), {
    ...lockfile,
    packages: Object.fromEntries(production),
  })
  await run('npm', ['ci', '--ignore-scripts'], folder)

  const nodes = ARCHITECTURES.map(({ node }) => `node-linux-${node}@${devDependencies.node}`)
  await run('npm', ['pack', ...nodes], stage)
  await run('apt-get', ['download', ...ARCHITECTURES.map(({ libatomic }) => libatomic)], stage)
}

/** Makes the archives from a stage. Resolves to their paths. */
export async function makeArchives(stage: string, releases: string): Promise<string[]> {
  return Promise.all(
    ARCHITECTURES.map((architecture) => makeArchive(stage, releases, architecture)),
  )
}

async function makeArchive(stage: string, releases: string, architecture: Architecture) {
  const platform = `linux-${architecture.node}`
  const production = join(stage, 'plant-store')
  const name = `plant-store-${readManifest(production).version}-${platform}`
  const folder = join(stage, name)
  const needed = (file: string) =>
    BINARIES.test(file) ? basename(file) === `${platform}.node` : !UNUSED.test(file)
  cpSync(production, folder, { recursive: true, filter: needed })
  copyFileSync(LAUNCHER, join(folder, 'plant-store'))

  const runtime = join(folder, 'node')
  mkdirSync(join(runtime, 'lib'), { recursive: true })
  const members = ['package/bin/node', 'package/LICENSE']
  const node = downloaded(stage, `node-${platform}`)
  await run('tar', ['-xzf', node, '--strip-components=1', '-C', runtime, ...members])
  await addLibatomic(join(runtime, 'lib'), stage, architecture)

  const archive = join(releases, `${name}.tar.gz`)
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  const options = ['--sort=name', `--mtime=${MODIFIED}`, ...owner, '--use-compress-program=gzip -n']
  await run('tar', ['--create', ...options, '--file', archive, '--directory', stage, name])
  return archive
}

async function addLibatomic(folder: string, stage: string, { gcc, libatomic }: Architecture) {
  const content = join(stage, libatomic)
  const file = downloaded(stage, libatomic)
  await run('dpkg-deb', ['--extract', file, content])
  copyFileSync(
    join(content, 'usr', `${gcc}-linux-gnu/lib/libatomic.so.1`),
    join(folder, 'libatomic.so.1'),
  )
  const origin = `libatomic.so.1 is part of GCC, unchanged from Debian's ${basename(file)}.
\`apt-get source ${libatomic}\` downloads its source. Its license is
the GPL 3 with the GCC Runtime Library Exception. Both follow.\n\n`
  const licenses = ['/usr/share/doc/libgcc-s1/copyright', '/usr/share/common-licenses/GPL-3']
  writeFileSync(
    join(folder, 'LICENSE'),
    origin + licenses.map((file) => readFileSync(file, 'utf8')).join('\n'),
  )
}
