import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Icon } from '../text/icon.tsx'

/** The space between the button and the menu, in pixels. */
const GAP = 4

/**
 * A button that opens a menu of buttons.
 *
 * @param children rendered while the menu is open
 */
export function Menu({
  label,
  children,
}: {
  readonly label: string
  readonly children: () => ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const id = useId()
  const onBeforeToggle = ({ newState }: Pick<ToggleEvent, 'newState'>) => {
    setOpen(newState === 'open')
    // The focused item disappears with the menu.
    if (menu.current?.contains(document.activeElement)) button.current?.focus()
    const { right = 0, bottom = 0 } = button.current?.getBoundingClientRect() ?? {}
    const { style } = menu.current ?? {}
    style?.setProperty('top', `${bottom + GAP}px`)
    style?.setProperty('right', `${document.documentElement.clientWidth - right}px`)
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        popovertarget={id}
      >
        <Icon name="more" />
      </button>
      <div
        ref={menu}
        id={id}
        class="menu surface"
        popover="auto"
        onBeforeToggle={onBeforeToggle}
        onClickCapture={() => {
          // The focus returns to where a dialog finds it.
          menu.current?.hidePopover()
          button.current?.focus()
        }}
      >
        {isOpen && children()}
      </div>
    </>
  )
}
