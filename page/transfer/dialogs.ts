/** Loaded together, because each file adds to the first load, and they share most of their code. */
export { ExportDialog } from './export-dialog.tsx'
export { ImportDialog } from './import/import-dialog.tsx'
