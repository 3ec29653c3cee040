// Generated from openapi.yaml by `npm run generate`; edit that instead.

import type { Member } from './members.ts'

/** The members of a plant, in their order in JSON and in files. */
export const members: readonly Member[] = [
  {
    name: "id",
    type: "int64",
    isRequired: true
  },
  {
    name: "name",
    type: "string",
    isRequired: true
  },
  {
    name: "tag",
    type: "string",
    isRequired: false
  }
]
