import type { Plant } from '../../client/client.ts'
import { cutAtDifference } from '../display-text.ts'
import { PlantText, Tag } from '../plant-text.tsx'
import { contentOf, type Draft, type Drafts, type Sender } from './drafts.ts'

/** Enough to see what differs. */
const TEXT_LENGTH = 400

/** Shows what is stored next to what the person wants, who chooses. */
export function Conflict({
  drafts,
  draft,
  sender,
  onDiscard,
}: {
  readonly drafts: Drafts
  readonly draft: Draft
  readonly sender: Sender
  readonly onDiscard: () => void
}) {
  const { key, before, stored, isDeletion, typed } = draft
  const mine = isDeletion ? undefined : contentOf(typed)
  const isAddition = before === undefined
  const reason = isAddition
    ? `There is already a plant with the id ${typed.id}.`
    : stored === undefined
      ? 'Somebody has deleted this plant.'
      : 'Somebody has changed this plant.'
  return (
    <div class="conflict">
      <p role="alert">{reason}</p>
      <dl class="versions">
        <Version title="Yours" plant={mine} other={stored} />
        <Version title="Stored now" plant={stored} other={mine} />
      </dl>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => drafts.keepMine(key, sender)}>
          {isDeletion ? 'Delete it anyway' : 'Save mine'}
        </button>
        <button type="button" onClick={onDiscard}>
          Keep the stored one
        </button>
        {!isDeletion && (
          <button type="button" onClick={() => drafts.keepEditing(key)}>
            {isAddition ? 'Choose another id' : 'Keep editing'}
          </button>
        )}
      </div>
    </div>
  )
}

function Version({
  title,
  plant,
  other = plant,
}: {
  readonly title: string
  readonly plant: Plant | undefined
  readonly other: Plant | undefined
}) {
  return (
    <div class="version">
      <dt>{title}</dt>
      {plant === undefined ? (
        <dd class="blank">Deleted</dd>
      ) : (
        <dd>
          <PlantText
            text={cutAtDifference(plant.name, other?.name ?? '', TEXT_LENGTH)}
            blank="no name"
          />
          <br />
          <Tag tag={plant.tag && cutAtDifference(plant.tag, other?.tag ?? '', TEXT_LENGTH)} />
        </dd>
      )}
    </div>
  )
}
