import type { Session } from '../access/session.ts'
import { useModel } from '../model/use-model.ts'
import { labelOf } from '../text/display-text.ts'
import { Conflict } from './conflict.tsx'
import type { Draft } from './draft.ts'
import type { Drafts, Saver } from './drafts.ts'

/** Lists the changes that are not saved, except the one that is being edited. */
export function DraftTray({
  drafts,
  saver,
  session: { canWrite, readOnlyReason },
  onFocus,
}: {
  readonly drafts: Drafts
  readonly saver: Saver
  readonly session: Session
  /** Called when the focused button disappears. */
  readonly onFocus: () => void
}) {
  useModel(drafts)
  const { waiting } = drafts
  const { length: unsent } = drafts.unsent
  return (
    <section class="tray surface" aria-labelledby="tray-title">
      <div class="row apart">
        <h2 id="tray-title">
          {waiting.length === 1
            ? '1 change is not saved'
            : `${waiting.length} changes are not saved`}
        </h2>
        {unsent > 1 && canWrite && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              drafts.sendAll(saver)
              onFocus()
            }}
          >
            Send all again
          </button>
        )}
      </div>
      {!canWrite && readOnlyReason === undefined && (
        <p>
          You are not permitted to change plants. To save these, sign in with another account or
          token.
        </p>
      )}
      <ul class="stack">
        {waiting.map((draft) => (
          <li key={draft.key} class="row apart">
            <DraftItem {...{ drafts, draft, saver, canWrite, onFocus }} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const STATES = {
  editing: 'Not sent yet.',
  sending: 'Saving…',
  unsent: 'Not saved.',
  refused: 'Not saved.',
  conflict: '',
}

function DraftItem({
  drafts,
  draft,
  saver,
  canWrite,
  onFocus,
}: {
  readonly drafts: Drafts
  readonly draft: Draft
  readonly saver: Saver
  readonly canWrite: boolean
  readonly onFocus: () => void
}) {
  const { key, state, problem, isDeletion, before, typed } = draft
  const intent = isDeletion ? 'Delete' : before === undefined ? 'Add' : 'Edit'
  const discard = () => {
    drafts.discard(key)
    onFocus()
  }
  return (
    <>
      <p>
        <strong>
          {intent} <bdi>{labelOf(typed)}</bdi>
        </strong>{' '}
        <span role="status">
          {STATES[state]} {problem}
        </span>
      </p>
      {state === 'conflict' ? (
        canWrite && <Conflict drafts={drafts} draft={draft} saver={saver} onDiscard={discard} />
      ) : (
        <div class="row">
          {canWrite && state === 'unsent' && (
            <button
              type="button"
              class="primary"
              onClick={() => {
                drafts.send(key, saver)
                onFocus()
              }}
            >
              Send again
            </button>
          )}
          {canWrite && !isDeletion && state !== 'sending' && (
            <button type="button" onClick={() => drafts.openDraft(key)}>
              Continue
            </button>
          )}
          {state !== 'sending' && (
            <button type="button" onClick={discard}>
              Discard
            </button>
          )}
        </div>
      )}
    </>
  )
}
