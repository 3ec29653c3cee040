import type { Plant } from '../../client/client.ts'
import { contentOf, type Draft, type Drafts, type Sender } from './drafts.ts'
import { PlantText, Tag } from './plant-text.tsx'

/** Enough to see what differs. */
const TEXT_LENGTH = 1000

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
        <Version title="Yours" plant={isDeletion ? undefined : contentOf(typed)} />
        <Version title="Stored now" plant={stored} />
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

function Version({ title, plant }: { readonly title: string; readonly plant: Plant | undefined }) {
  return (
    <div class="version">
      <dt>{title}</dt>
      {plant === undefined ? (
        <dd class="blank">Deleted</dd>
      ) : (
        <dd>
          <PlantText text={plant.name} blank="no name" length={TEXT_LENGTH} />
          <br />
          <Tag tag={plant.tag} length={TEXT_LENGTH} />
        </dd>
      )}
    </div>
  )
}
