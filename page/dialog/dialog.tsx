import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * A modal dialog. Its title has the focus when it opens and when the title changes, so that a screen reader reads what
 * happens.
 *
 * @param isBusy keeps Escape from closing it
 * @param isOver whether a file is being dragged over it, and would be accepted
 */
export function Dialog({
  title,
  isBusy = false,
  isOver = false,
  onClose,
  children,
}: {
  readonly title: string
  readonly isBusy?: boolean
  readonly isOver?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  useLayoutEffect(() => heading.current?.focus(), [title])
  return (
    <dialog
      ref={dialog}
      class={`surface ${isOver ? 'over' : ''}`}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onCancel={(event) => {
        if (isBusy) event.preventDefault()
      }}
    >
      <h2 ref={heading} id="dialog-title" tabIndex={-1}>
        {title}
      </h2>
      {children}
    </dialog>
  )
}
