import { useEffect, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../../client/client.ts'
import type { Mapping } from '../../../core/files/columns.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { Dialog } from '../../dialog/dialog.tsx'
import { useFileDrop } from '../../dialog/file-drop.ts'
import { explain } from '../../errors/error-text.ts'
import { type ImportFile, openFile } from '../file/import-file.ts'
import { numberFile } from '../file/numbering.ts'
import type { Comparison } from './file-comparison.ts'
import { ImportComparison } from './import-comparison.tsx'
import { ImportPreview } from './import-preview.tsx'
import { ImportProgress, type ImportTarget } from './import-progress.tsx'
import type { ConflictChoice } from './import-run.ts'

type Step =
  | { readonly is: 'reading' }
  | { readonly is: 'unusable'; readonly problem: string }
  | { readonly is: 'ready'; readonly file: ImportFile; readonly mapping: Mapping }
  | {
      readonly is: 'mapped'
      readonly file: ImportFile
      readonly mapping: Mapping
      /** The file before it was numbered. */
      readonly source: ImportFile
    }
  | {
      readonly is: 'running'
      readonly file: ImportFile
      readonly mapping: Mapping
      readonly comparison: Comparison
      readonly onConflict: ConflictChoice
    }

/** Imports a file: recognizes it, shows its first records, compares it with the store, and stores the plants. */
export function ImportDialog({
  files: firstFiles,
  ...target
}: ImportTarget & { readonly files: readonly File[] }) {
  const { session, onClose } = target
  const client = session.canRead ? session.client : undefined
  const [opening, setOpening] = useState(() => recognize(firstFiles))
  const [step, setStep] = useState<Step>({ is: 'reading' })
  // Another file can be dropped until this one is compared.
  const isOver = useFileDrop(
    step.is === 'running' || step.is === 'mapped'
      ? undefined
      : (files) => setOpening(recognize(files)),
  )

  useEffect(() => {
    let isCurrent = true
    setStep({ is: 'reading' })
    opening.then((step) => isCurrent && setStep(step))
    return () => {
      isCurrent = false
    }
  }, [opening])

  switch (step.is) {
    case 'reading':
      return <Reading onClose={onClose} />
    case 'unusable':
      return <Unusable problem={step.problem} {...{ isOver, onClose }} />
    case 'ready': {
      const { file } = step
      return (
        <ImportPreview
          key={JSON.stringify(file.choices)}
          {...{ client, file, mapping: step.mapping, isOver, onClose }}
          onChoose={(choices) => setOpening(toStep(file.choose(choices)))}
          onNext={(mapping, from) =>
            setStep({ is: 'mapped', file: numbered(file, from, client), mapping, source: file })
          }
        />
      )
    }
    case 'mapped': {
      const { file, mapping, source } = step
      return (
        <ImportComparison
          {...{ session, file, mapping, onClose }}
          onStart={(comparison, onConflict) =>
            setStep({ is: 'running', file, mapping, comparison, onConflict })
          }
          onBack={() => setStep({ is: 'ready', file: source, mapping })}
        />
      )
    }
    case 'running': {
      const { is, ...run } = step
      return <ImportProgress {...target} {...run} />
    }
  }
}

function Reading({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Reading the file" onClose={onClose}>
      <progress aria-label="Reading the file" />
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </footer>
    </Dialog>
  )
}

function Unusable({
  problem,
  isOver,
  onClose,
}: {
  readonly problem: string
  readonly isOver: boolean
  readonly onClose: () => void
}) {
  return (
    <Dialog title="Nothing was imported" isOver={isOver} onClose={onClose}>
      <p class="problem" role="alert">
        {problem}
      </p>
      <footer>
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </footer>
    </Dialog>
  )
}

function numbered(
  file: ImportFile,
  from: bigint | undefined,
  client: PlantStoreClient | undefined,
): ImportFile {
  return from === undefined ? file : numberFile(file, from, client)
}

async function recognize(files: readonly File[]): Promise<Step> {
  const [file, ...others] = files
  if (file === undefined || others.length > 0) {
    return { is: 'unusable', problem: 'Choose one file at a time.' }
  }
  return toStep(openFile(file))
}

async function toStep(opening: Promise<ImportFile>): Promise<Step> {
  try {
    const file = await opening
    return { is: 'ready', file, mapping: file.guess }
  } catch (error) {
    return {
      is: 'unusable',
      problem: error instanceof FileProblem ? error.message : explain(error),
    }
  }
}
