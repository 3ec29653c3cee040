/** Checks what `npm run release` has made in `dist/release`. `tools/image/image-test` runs it on an empty Debian. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { takeTour } from '../helpers/processes/tour.ts'
import { CHECKOUT, checkPage, emptyFolder, startService } from './installation.ts'

const RELEASE = join(CHECKOUT, 'dist/release')

/** `e_machine` in the header of an ELF file. */
const MACHINES = { x64: 62, arm64: 183 }

const ARCHIVE_BYTES_MAX = 60_000_000

/** As docs/deploying.md says. */
const GLIBC_MINOR_MAX = 34

const { version } = readJson(join(CHECKOUT, 'package.json'))
const lockfile: Record<string, { version: string; dev?: boolean }> = readJson(
  join(CHECKOUT, 'package-lock.json'),
).packages
const installed = Object.entries(lockfile).filter(([path, { dev }]) => path !== '' && !dev)
const folder = emptyFolder(t)

t.test('the checksums are those of all other files', async (t) => {
  const checked = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
    cwd: RELEASE,
    encoding: 'utf8',
  })
  const files = Array.from(checked.matchAll(/^(.*): OK$/gm), ([, file]) => file)
  t.strictSame(
    files.toSorted(),
    readdirSync(RELEASE).filter((file) => file !== 'SHA256SUMS'),
  )
})

t.test('the SBOM lists each package, and Node', async (t) => {
  const { bomFormat, components } = readJson(join(RELEASE, `plant-store-${version}.cdx.json`))
  t.equal(bomFormat, 'CycloneDX')
  const listed = new Set(components.map(({ name, version }: Named) => `${name}@${version}`))
  t.equal(listed.size, components.length)
  for (const [path, { version }] of installed) {
    t.ok(listed.has(`${path.replace(/.*node_modules\//, '')}@${version}`), path)
  }
  // One that only the page contains.
  for (const name of ['node', 'preact']) {
    t.ok(listed.has(`${name}@${lockfile[`node_modules/${name}`]?.version}`), name)
  }
})

for (const [architecture, machine] of Object.entries(MACHINES)) {
  t.test(`the archive for ${architecture} contains what it needs`, async (t) => {
    const name = `plant-store-${version}-linux-${architecture}`
    const archive = join(RELEASE, `${name}.tar.gz`)
    t.ok(statSync(archive).size <= ARCHIVE_BYTES_MAX)
    execFileSync('tar', ['-xzf', archive, '-C', folder])
    const content = join(folder, name)
    for (const [path, { version }] of installed) {
      t.equal(readJson(join(content, path, 'package.json')).version, version, path)
    }
    const entries = readdirSync(content, { recursive: true, withFileTypes: true })
    t.strictSame(
      entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name),
      [],
      'nothing links to the folder in which it was made',
    )

    const binaries = globSync(['node/bin/*', 'node/lib/*.so*', 'node_modules/**/*.node'], {
      cwd: content,
    })
    t.equal(binaries.length, 3, 'Node, its library and SQLite')
    for (const file of binaries) {
      const bytes = readFileSync(join(content, file))
      t.equal(bytes.toString('latin1', 0, 4), '\x7fELF', file)
      t.equal(bytes.readUInt16LE(18), machine, file)
      const versions = bytes.toString('latin1').matchAll(/\0GLIBC_2\.(\d+)/g)
      t.ok(Math.max(...Array.from(versions, ([, minor]) => Number(minor))) <= GLIBC_MINOR_MAX, file)
    }

    if (architecture !== process.arch) return
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    const service = await startService(t, { environment: {} }, elsewhere, [
      join(content, 'plant-store'),
    ])
    t.comment(`ready after ${Math.round(service.milliseconds)} ms`)
    await checkPage(t, service.url)
    await service.stop()
    t.strictSame(readdirSync(join(elsewhere, 'data')), ['plants.db'])

    await t.test("the README's commands work in its folder", async (t) => {
      const [, commands = ''] =
        /```sh\n(tar [\s\S]*?)```/.exec(readFileSync(join(content, 'README.md'), 'utf8')) ?? []
      const [unpack, start] = commands.replaceAll('linux-x64', `linux-${architecture}`).split('\n')
      t.equal(unpack, `tar -xzf ${name}.tar.gz && cd ${name}`)
      const environment = { PLANT_STORE_TOKEN: undefined }
      const { url, stop } = await startService(t, { environment }, content, [String(start)])
      await takeTour(t, content, url, String(start))
      await stop()
    })
  })
}

interface Named {
  readonly name: string
  readonly version: string
}

function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
