import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { PAGE_BUNDLE } from '../build/page-bundle.ts'
import { downloaded } from './archive.ts'
import { readManifest, writeJson } from './manifest.ts'
import { run } from './run.ts'

interface Component {
  readonly 'bom-ref': string
  readonly [property: string]: unknown
}

/** Writes an SBOM of the archives: the packages installed in a stage, those in the page, Node and libatomic. */
export async function writeSbom(stage: string, releases: string): Promise<string> {
  const production = join(stage, 'plant-store')
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
  const bom = JSON.parse(await run('npm', args, production))
  const installed = new Set(bom.components.map((each: Component) => each['bom-ref']))
  const bundled = await bundledPackages()
  bom.components.push(
    ...bundled.filter((each) => !installed.has(each['bom-ref'])),
    nodeComponent(),
    libatomicComponent(stage),
  )
  const file = join(releases, `plant-store-${readManifest(production).version}.cdx.json`)
  writeJson(file, bom)
  return file
}

/** The packages that the page contains. */
async function bundledPackages() {
  const { metafile } = await build({ ...PAGE_BUNDLE, write: false })
  const folders = Object.keys(metafile.inputs).map(
    (file) => /^node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0],
  )
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .map((folder) => {
      const { name, version, license } = readManifest(folder)
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
      return { ...component(name, version, license), purl }
    })
}

function nodeComponent() {
  const version = readManifest('.').devDependencies.node
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`
  return {
    ...component('node', version, 'MIT'),
    type: 'platform',
    cpe,
    purl: `pkg:npm/node@${version}`,
  }
}

function libatomicComponent(stage: string) {
  const [, version = ''] = basename(downloaded(stage, 'libatomic1-amd64-cross')).split('_')
  return component('libatomic', version, 'GPL-3.0-or-later WITH GCC-exception-3.1')
}

function component(name: string, version: string, expression: string): Component {
  const reference = `${name}@${version}`
  return { 'bom-ref': reference, type: 'library', name, version, licenses: [{ expression }] }
}
