const PATHS = {
  add: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  delete: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4',
  empty:
    'M12 21v-9M12 14c0-4 2.5-6.5 7-6.5 0 4.5-2.5 6.5-7 6.5zM12 12C12 7 9 4.5 4.5 4.5 4.5 9 7 12 12 12zM5 21h14',
  error: 'M12 4 2.5 20h19zM12 10v4.5M12 17.2v.1',
  filter: 'M4 6h16M7 12h10M10 18h4',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  offline:
    'M3 3l18 18M8.5 16.5a5 5 0 0 1 7 0M5 13a10 10 0 0 1 5.2-2.700M19 13a10 10 0 0 0-3-2M2 9a15 15 0 0 1 4.5-2.800M22 9a15 15 0 0 0-11-4M12 20h.01',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20c.5-4 3.5-6 7-6s6.5 2 7 6',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 21 21',
  view: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
}

export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg class={`icon ${name}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
