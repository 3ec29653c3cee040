import { defineConfig } from 'orval'

const input = '../../../openapi.yaml'
const reviver = { path: '../drivers/reviver.ts', name: 'reviver' }

export default defineConfig({
  fetch: {
    input,
    output: {
      target: '../generated/orval-fetch.ts',
      client: 'fetch',
      baseUrl: { runtime: 'process.env.STORE' },
      override: { useBigInt: true, fetch: { jsonReviver: reviver } },
    },
  },
  zod: { input, output: { target: '../generated/orval-zod.ts', client: 'zod' } },
})
