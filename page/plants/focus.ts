/**
 * Whether a person is typing outside an element, so that it must not take the focus. It can appear late, because plants
 * are loaded as they come into view.
 */
export function isTypingOutside(element: Element): boolean {
  const { activeElement } = document
  return activeElement?.matches('input, textarea') === true && !element.contains(activeElement)
}
