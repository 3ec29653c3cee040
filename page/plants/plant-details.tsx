import { useEffect, useRef, useState } from 'preact/hooks'
import type { StoredPlant } from '../../client/client.ts'
import { type MemberValue, ownValue } from '../../core/members/members.ts'
import { isTypingOutside } from '../list/surroundings.ts'
import { ownMembers, textLength } from '../model/current-members.ts'
import { cut, memberLabel } from '../text/display-text.ts'
import { formatNumber } from '../text/intl.ts'
import { OwnValue } from '../text/member-value.tsx'
import { Tag } from '../text/plant-text.tsx'

/** Longer text makes the browser slow, so that it is only shown on request. */
const TEXT_LENGTH = 5000

/** All members of a plant, for those who cannot edit it. */
export function PlantDetails({
  plant,
  onClose,
}: {
  readonly plant: StoredPlant
  readonly onClose: () => void
}) {
  const { name, tag } = plant
  const characters = textLength(plant)
  const [isWhole, setWhole] = useState(characters <= TEXT_LENGTH)
  const closeButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    const { current } = closeButton
    if (current !== null && !isTypingOutside(current)) current.focus()
  }, [])
  const length = isWhole ? Number.POSITIVE_INFINITY : TEXT_LENGTH
  return (
    <section
      class="editor stack"
      aria-label={`Plant ${plant.id}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <label class="field">
        Name
        <textarea rows={1} dir="auto" readOnly value={cut(name, length)} />
      </label>
      <p>
        Tag: <Tag tag={tag} length={length} />
      </p>
      <OwnMembers plant={plant} length={length} />
      <div class="row">
        {!isWhole && (
          <button type="button" onClick={() => setWhole(true)}>
            Show all {formatNumber(characters)} characters
          </button>
        )}
        <button type="button" ref={closeButton} onClick={onClose}>
          Close
        </button>
      </div>
    </section>
  )
}

function OwnMembers({ plant, length }: { readonly plant: StoredPlant; readonly length: number }) {
  const shown = ownMembers.flatMap((member) => {
    const value = ownValue(plant, member.name) as MemberValue | undefined
    return value === undefined ? [] : [{ member, value }]
  })
  if (shown.length === 0) return null
  return (
    <dl class="columns">
      {shown.map(({ member, value }) => (
        <div key={member.name} title={member.schema.description}>
          <dt>{memberLabel(member)}</dt>
          <dd>
            <OwnValue member={member} value={value} length={length} isSpelledOut />
          </dd>
        </div>
      ))}
    </dl>
  )
}
