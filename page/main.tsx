import './page.css'
import { render } from 'preact'
import { type PageSettings, SETTINGS_NAME } from '../core/page-settings.ts'
import { TabStorage } from './access/tab-storage.ts'
import { UndoLog } from './changes/undo-log.ts'
import { DraftStorage } from './drafts/draft-storage.ts'
import { Drafts } from './drafts/drafts.ts'
import { setMembers } from './model/current-members.ts'
import { App } from './root.tsx'

const element = document.querySelector<HTMLMetaElement>(`meta[name="${SETTINGS_NAME}"]`)
const { docs, signIn, fields }: PageSettings = JSON.parse(String(element?.content))

setMembers(fields)

const storage = new TabStorage()
const drafts = new Drafts()
const draftStorage = new DraftStorage(drafts, storage)
const log = new UndoLog(storage)
await Promise.allSettled([draftStorage.load(), log.load()])
const issuer = signIn && new (await import('./access/sign-in.ts')).SignIn(signIn)
render(
  <App docs={docs} signIn={issuer} kept={{ storage, drafts, draftStorage, log }} />,
  document.body,
)
