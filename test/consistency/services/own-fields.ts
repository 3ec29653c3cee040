import { fileURLToPath } from 'node:url'
import { loadOverlay } from '../../../contract/overlay.ts'
import type { OwnField } from '../../../contract/own-fields.ts'

const FILE = new URL('../../../data/nursery.yaml', import.meta.url)

/** The setting with which a service has own fields. Its target must have OWN_FIELDS. */
export const WITH_FIELDS = ['--contract', fileURLToPath(FILE)] as const

export const OWN_FIELDS: readonly OwnField[] = loadOverlay(FILE)
