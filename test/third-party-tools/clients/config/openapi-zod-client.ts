import { readFileSync } from 'node:fs'
import { generateZodClientFromOpenAPI } from 'openapi-zod-client'
import { parse } from 'yaml'

const contract = parse(readFileSync('../../openapi.yaml', 'utf8'))
// The generator ignores the properties of a schema with an allOf, and with them `op`, which discriminates.
delete contract.components.schemas.PlantChange.discriminator
await generateZodClientFromOpenAPI({
  openApiDoc: contract,
  distPath: 'generated/openapi-zod-client.ts',
  options: { withAlias: true },
})
