/** Databases that are mirrors, without a source. */

import assert from 'node:assert/strict'
import { INT64_MIN } from '../../../core/json/int64.ts'
import {
  type MirrorRestriction,
  type RestrictionStore,
  restrict,
} from '../../../service/restriction.ts'
import type { NewPlant } from '../../../service/store/plant-store.ts'
import { each } from '../plants/lists.ts'

const source = 'https://plants.example'

/** A mirror at each stage of its first copy. */
export const BEGUN: MirrorRestriction = { source, cursor: 'first', copyFrom: INT64_MIN }
export const COPIED: MirrorRestriction = { source, cursor: 'second', consistentAt: 'third' }
export const CONSISTENT: MirrorRestriction = { source, cursor: 'third' }

/** Makes an empty database a mirror. */
export async function makeMirror(
  store: RestrictionStore,
  mirror: MirrorRestriction = CONSISTENT,
  stored: readonly NewPlant[] = [],
): Promise<void> {
  assert.equal(await restrict(store, { expected: undefined, next: BEGUN }), 'done')
  assert.equal(
    await restrict(store, { expected: BEGUN, next: mirror, changes: each('put', stored) }),
    'done',
  )
}
