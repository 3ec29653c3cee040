/** The types of plants and of changes to them. `P` is the type of a plant with own fields. */
import type { components } from '../core/generated/api.gen.ts'

type Schemas = components['schemas']

/**
 * A plant without its id. A missing tag and an empty one are different.
 *
 * @example
 * const plant: Plant = { name: 'Abies alba Mill.', tag: 'Tree' }
 */
export type Plant = Schemas['Plant']

/**
 * A plant to create, with the id that you choose.
 *
 * @example
 * const plant: NewPlant = { id: 4n, name: 'Abies alba Mill.' }
 */
export type NewPlant<P extends Plant = Plant> = { id: Schemas['NewPlant']['id'] } & P

/**
 * A plant as it is stored.
 *
 * @example
 * const { id, name, tag = 'no tag' }: StoredPlant = (await plants.getPlant(4n)).plant
 */
export type StoredPlant<P extends Plant = Plant> = { id: Schemas['StoredPlant']['id'] } & P

/**
 * A JSON merge patch (RFC 7396). Omitted properties stay unchanged; `tag: null` removes the tag, and null for an
 * optional own field removes it.
 *
 * @example
 * const patch: PlantPatch = { name: 'Abies alba', tag: null }
 */
export type PlantPatch<P extends Plant = Plant> = Schemas['PlantPatch'] & FieldsPatch<P>

/** The own fields of a patch. */
type FieldsPatch<P extends Plant> = {
  [Name in keyof P as Exclude<Name, keyof Plant>]?:
    | P[Name]
    | (undefined extends P[Name] ? null : never)
}

/**
 * A change for `changePlants`: `create`, `replace`, `update` or `remove`, like the methods for one plant. `ifMatch` works
 * as in `WriteOptions`. With `ifContent` in its place, the plant must still have exactly this content.
 *
 * @example
 * const rename: PlantChange = { op: 'update', id: 4n, name: 'Abies alba', ifMatch: etag }
 */
export type PlantChange<P extends Plant = Plant> =
  | (Schemas['PlantCreate'] & P)
  | (Expecting<Schemas['PlantReplace'], P> & P)
  | (Expecting<Schemas['PlantUpdate'], P> & FieldsPatch<P>)
  | Expecting<Schemas['PlantRemove'], P>

type Expecting<Change, P extends Plant> = Omit<Change, 'ifContent'> & { ifContent?: P }

/**
 * The number of changes by their effect. `unchanged` counts those without one.
 *
 * @example
 * const { created, changed, removed, unchanged }: ChangeCounts = await plants.changePlants([{ op: 'remove', id: 4n }])
 */
export type ChangeCounts = Schemas['ChangeCounts']

/**
 * A committed change to one plant. `removed` has no `plant`; the others have the whole plant after the change.
 *
 * @example
 * const { cursor, type, id, plant }: Change = change
 */
export type Change<P extends Plant = Plant> =
  | (Omit<Schemas['ChangeWithPlant'], 'plant'> & { plant: P })
  | (Schemas['Removal'] & { plant?: never })
