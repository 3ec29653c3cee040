import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

const ROW_HEIGHT = 44
/** On a phone, a row has two lines. */
const PHONE_ROW_HEIGHT = 64

/** As in main.css. */
const PHONE = matchMedia('(max-width: 640px)')

/**
 * The height of an element in pixels, or 0 while there is none.
 *
 * @param id changes when another element takes the place of the one that was measured
 * @param part `clientHeight` is without its border and its scroll bar
 */
export function useHeight(
  ref: RefObject<HTMLElement | null>,
  id?: bigint,
  part: 'offsetHeight' | 'clientHeight' = 'offsetHeight',
): number {
  const [height, setHeight] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = () => setHeight(element[part])
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [id])
  return height
}

/** The height of every row but the expanded one, in pixels. */
export function useRowHeight(): number {
  const [isPhone, setPhone] = useState(PHONE.matches)
  useEffect(() => {
    const change = () => setPhone(PHONE.matches)
    PHONE.addEventListener('change', change)
    return () => PHONE.removeEventListener('change', change)
  }, [])
  return isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT
}
