import { writeFileSync } from 'node:fs'
import openapiTypes, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const BIGINT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)

const types = await openapiTypes(new URL('../../../openapi.yaml', import.meta.url), {
  transform: ({ format }) => (format === 'int64' ? BIGINT : undefined),
})
writeFileSync('generated/openapi-typescript.ts', astToString(types))
