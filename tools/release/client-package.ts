import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeClient } from '../build/client-bundle.ts'
import { readManifest, writeJson } from './manifest.ts'
import { run } from './run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Packs the client as a package of its own into a folder. Resolves to the path of the file. */
export async function packClient(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const staging = mkdtempSync(join(tmpdir(), 'plant-store-client-'))
  try {
    await writeClient(staging)
    writeJson(join(staging, 'package.json'), describePackage())
    copyFileSync(join(ROOT, 'client/README.md'), join(staging, 'README.md'))
    copyFileSync(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'))
    const args = ['pack', '--json', '--pack-destination', resolve(folder)]
    const [packed] = JSON.parse(await run('npm', args, staging))
    return join(folder, packed.filename)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** The `package.json`. */
function describePackage() {
  const { version, license, engines } = readManifest(ROOT)
  return {
    name: 'plant-store-client',
    version,
    description: 'The client for Plant Store, an HTTP service that stores plants',
    keywords: ['api-client', 'plant-store'],
    license,
    type: 'module',
    sideEffects: false,
    exports: {
      '.': { types: './client.d.ts', default: './client.js' },
      './package.json': './package.json',
    },
    engines,
  }
}
