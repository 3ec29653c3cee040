import { Fragment } from 'preact'
import type { Plant } from '../../client/client.ts'
import { isOwn } from '../model/members.ts'
import { cutAtDifference, memberLabel } from '../text/display-text.ts'
import { PlantText, Tag } from '../text/plant-text.tsx'
import { comparedMembers, textIn } from './comparison.ts'
import type { Draft, Drafts, Saver } from './drafts.ts'
import { contentOf } from './typed.ts'

/** Enough to see what differs. */
const TEXT_LENGTH = 400

/** Shows what is stored next to what the person wants, who chooses. */
export function Conflict({
  drafts,
  draft,
  saver,
  onDiscard,
}: {
  readonly drafts: Drafts
  readonly draft: Draft
  readonly saver: Saver
  readonly onDiscard: () => void
}) {
  const { key, before, stored, isDeletion, typed } = draft
  const mine = isDeletion ? undefined : contentOf(typed)
  const { reason, save, discard } = wordsFor(draft)
  const isAddition = before === undefined
  return (
    <div class="conflict">
      <p role="alert">{reason}</p>
      <dl class="versions">
        {mine && <Version title="Yours" plant={mine} other={stored} />}
        {stored && <Version title="Stored now" plant={stored} other={mine} />}
      </dl>
      <div class="buttons">
        {isAddition && (
          <button type="button" class="primary" onClick={() => drafts.keepEditing(key)}>
            Choose another id
          </button>
        )}
        <button
          type="button"
          class={isAddition ? '' : 'primary'}
          onClick={() => drafts.keepMine(key, saver)}
        >
          {save}
        </button>
        <button type="button" onClick={onDiscard}>
          {discard}
        </button>
        {!isDeletion && !isAddition && (
          <button type="button" onClick={() => drafts.keepEditing(key)}>
            Keep editing
          </button>
        )}
      </div>
    </div>
  )
}

/** What has happened, and the labels of the buttons that save and discard the draft. */
function wordsFor({ before, stored, isDeletion, typed }: Draft) {
  const discard = 'Keep the stored one'
  if (before === undefined) {
    const reason = `There is already a plant with the id ${typed.id}.`
    return { reason, save: 'Replace the stored one', discard }
  }
  if (stored === undefined) {
    const reason = 'Somebody has deleted this plant.'
    return { reason, save: 'Add it again', discard: 'Leave it deleted' }
  }
  const reason = 'Somebody has changed this plant.'
  return { reason, save: isDeletion ? 'Delete it anyway' : 'Save mine', discard }
}

function Version({
  title,
  plant,
  other,
}: {
  readonly title: string
  readonly plant: Plant
  readonly other: Plant | undefined
}) {
  return (
    <div class="version">
      <dt>{title}</dt>
      <dd>
        {comparedMembers(plant, other).map((member, index) => {
          const text = textIn(plant, member)
          const shown = text && cutAtDifference(text, textIn(other, member) ?? '', TEXT_LENGTH)
          return (
            <Fragment key={member.name}>
              {index > 0 && <br />}
              {isOwn(member) && `${memberLabel(member)}: `}
              {member.name === 'tag' ? (
                <Tag tag={shown} />
              ) : (
                <PlantText text={shown ?? ''} blank={text === '' ? 'empty' : `no ${member.name}`} />
              )}
            </Fragment>
          )
        })}
      </dd>
    </div>
  )
}
