/**
 * Builds the page into `dist/page`, and the guides into `dist/guides`. Runs after every install and before the tests,
 * like `build-tap.ts`. With `--watch`, builds the page again after each change until interrupted.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasDevelopmentDependencies } from './development-dependencies.js'
import { PAGE_BUNDLE } from './page-bundle.ts'

if (hasDevelopmentDependencies()) await build(process.argv.includes('--watch'))
else console.log('skipped building the page: the development dependencies are not installed')

async function build(watches: boolean): Promise<void> {
  const { context } = await import('esbuild')
  const { renderGuides } = await import('./guide-pages.ts')
  const { absWorkingDir, outdir } = PAGE_BUNDLE
  const guides = join(absWorkingDir, 'dist/guides')
  // Files that are no longer part of the page, and all of them if the build fails.
  for (const folder of [join(absWorkingDir, outdir), guides]) {
    rmSync(folder, { recursive: true, force: true })
  }
  mkdirSync(guides, { recursive: true })
  for (const [name, content] of renderGuides()) writeFileSync(join(guides, name), content)
  const page = await context({ ...PAGE_BUNDLE, logLevel: watches ? 'info' : 'warning' })
  if (watches) return page.watch()
  // esbuild has already printed what is wrong.
  await page.rebuild().catch(() => {
    process.exitCode = 1
  })
  await page.dispose()
}
