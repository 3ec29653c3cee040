/** Preloaded into a process (`--import`): prints the packages that it has loaded, ESM and CommonJS, when it exits. */
import { registerHooks } from 'node:module'

const packages = new Set<string>()

registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
    if (name !== undefined) packages.add(name)
    return nextLoad(url, context)
  },
})

process.on('exit', () => process.stderr.write(`\n${JSON.stringify([...packages])}`))
