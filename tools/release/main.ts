/**
 * Makes everything that a release consists of in `dist/release`, or in the folder given as an argument. Publishes
 * nothing. Runs on Debian and Ubuntu, from which a library in the archives comes.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fillStage, makeArchives } from './archive.ts'
import { packClient } from './client-package.ts'
import { run } from './run.ts'
import { writeSbom } from './sbom.ts'

const folder = resolve(process.argv[2] ?? 'dist/release')
const stage = mkdtempSync(join(tmpdir(), 'plant-store-release-'))
process.on('exit', () => rmSync(stage, { recursive: true, force: true }))

// First, because it builds dist again, which deletes dist/release.
const packed = await run('npm', ['pack', '--json', '--pack-destination', stage])
const [{ filename }] = JSON.parse(packed)
mkdirSync(folder, { recursive: true })
const npmPackage = join(folder, filename)
copyFileSync(join(stage, filename), npmPackage)

await fillStage(stage, npmPackage)
const files = [
  npmPackage,
  await packClient(folder),
  ...(await makeArchives(stage, folder)),
  await writeSbom(stage, folder),
]
const sums = files.map((file) => {
  const content = readFileSync(file)
  console.log(`${(content.length / 1e6).toFixed(1).padStart(5)} MB ${file}`)
  return `${createHash('sha256').update(content).digest('hex')}  ${basename(file)}\n`
})
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
