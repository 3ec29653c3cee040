import { Fragment, type RefObject } from 'preact'
import { useRef } from 'preact/hooks'
import type { Plant } from '../../client/client.ts'
import type { Member } from '../../core/members/members.ts'
import { valuesOf } from '../forms/typed.ts'
import { contentMembers, isOwn } from '../model/current-members.ts'
import { cutAtDifference, memberLabel } from '../text/display-text.ts'
import { PlantText, Tag } from '../text/plant-text.tsx'
import { comparedMembers, textIn } from './compared-members.ts'
import type { Draft } from './draft.ts'
import type { Drafts, Saver } from './drafts.ts'

/** Enough to see what differs. */
const TEXT_LENGTH = 400

interface ConflictProps {
  readonly drafts: Drafts
  readonly draft: Draft
  readonly saver: Saver
  readonly onDiscard: () => void
}

/** Shows what is stored next to what the person wants, who chooses: for each member that both have changed, or once. */
export function Conflict(props: ConflictProps) {
  const { contested = [] } = props.draft
  const members = contentMembers.filter(({ name }) => contested.includes(name))
  return members.length > 0 ? (
    <MemberConflicts {...props} members={members} />
  ) : (
    <PlantConflict {...props} />
  )
}

function MemberConflicts({
  drafts,
  draft,
  saver,
  onDiscard,
  members,
}: ConflictProps & { readonly members: readonly Member[] }) {
  const reason = useRef<HTMLParagraphElement>(null)
  const { key, typed, stored } = draft
  const mine = valuesOf(typed)
  const choose = (name: string, choice: 'mine' | 'stored') => {
    // The focused button disappears with its member.
    reason.current?.focus()
    drafts.choose(key, name, choice, saver)
    if (drafts.find(key) === undefined) onDiscard()
  }
  const versions = (compared: readonly Member[]) => (
    <dl class="columns">
      <Version title="Yours" plant={mine} other={stored} members={compared} />
      <Version title="Stored now" plant={stored} other={mine} members={compared} />
    </dl>
  )
  const names = contentMembers.filter(({ name }) => name === 'name')
  return (
    <div class="conflict stack">
      <Reason text={wordsFor(draft).reason} elementRef={reason} />
      {!members.some((member) => names.includes(member)) && versions(names)}
      {members.map((member) => (
        <fieldset key={member.name} class="stack">
          <legend>{memberLabel(member)}</legend>
          {versions([member])}
          <div class="row">
            <button type="button" class="primary" onClick={() => choose(member.name, 'mine')}>
              {members.length > 1 ? 'Use mine' : 'Save mine'}
            </button>
            <button type="button" onClick={() => choose(member.name, 'stored')}>
              {members.length > 1 ? 'Use the stored one' : 'Keep the stored one'}
            </button>
          </div>
        </fieldset>
      ))}
      <div class="row">
        <button type="button" onClick={() => drafts.keepEditing(key)}>
          Keep editing
        </button>
      </div>
    </div>
  )
}

/** A plant to add whose id is taken, to edit that is gone, or to delete that has changed. */
function PlantConflict({ drafts, draft, saver, onDiscard }: ConflictProps) {
  const { key, before, stored, isDeletion, typed } = draft
  const mine = valuesOf(typed)
  const { reason, save, discard } = wordsFor(draft)
  const isAddition = before === undefined
  return (
    <div class="conflict stack">
      <Reason text={reason} />
      <dl class="columns">
        <Version title={isDeletion ? 'To delete' : 'Yours'} plant={mine} other={stored ?? before} />
        <Version title={stored ? 'Stored now' : 'Deleted'} plant={stored ?? before} other={mine} />
      </dl>
      <div class="row">
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

/** What has happened. Gets the focus instead of a button, which a key meant for something else could press. */
function Reason({
  text,
  elementRef = null,
}: {
  readonly text: string
  readonly elementRef?: RefObject<HTMLParagraphElement | null> | null
}) {
  return (
    <p ref={elementRef} class="reason warning" role="alert" tabIndex={-1}>
      {text}
    </p>
  )
}

/** What has happened, and the labels of the buttons that save and discard the draft. */
function wordsFor({ before, stored, typed }: Draft) {
  const discard = 'Keep the stored one'
  if (before === undefined) {
    const reason = `There is already a plant with the id ${typed.id}.`
    return { reason, save: 'Replace the stored one', discard }
  }
  const { id } = before
  if (stored === undefined) {
    const reason = `Somebody has deleted plant ${id}.`
    return { reason, save: 'Add it again', discard: 'Leave it deleted' }
  }
  return { reason: `Somebody has changed plant ${id}.`, save: 'Delete it anyway', discard }
}

function Version({
  title,
  plant,
  other,
  members = plant && comparedMembers(plant, other),
}: {
  readonly title: string
  readonly plant: Plant | undefined
  readonly other: Plant | undefined
  readonly members?: readonly Member[] | undefined
}) {
  return (
    <div class="version surface">
      <dt>{title}</dt>
      <dd>
        {members?.map((member, index) => {
          const text = textIn(plant, member)
          const shown = text && cutAtDifference(text, textIn(other, member) ?? '', TEXT_LENGTH)
          return (
            <Fragment key={member.name}>
              {index > 0 && <br />}
              {isOwn(member) && members.length > 1 && `${memberLabel(member)}: `}
              {member.name === 'tag' ? (
                <Tag tag={shown} />
              ) : (
                <PlantText text={shown ?? ''} blank={text === '' ? 'Empty' : 'No value'} />
              )}
            </Fragment>
          )
        })}
      </dd>
    </div>
  )
}
