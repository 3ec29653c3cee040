import { defineConfig } from '@hey-api/openapi-ts'

export default defineConfig({
  input: '../../openapi.yaml',
  output: 'generated/hey-api',
  plugins: [
    '@hey-api/client-fetch',
    '@hey-api/sdk',
    { name: '@hey-api/transformers', bigInt: true },
  ],
})
