import { render } from 'preact'
import { App } from './app.tsx'
import './main.css'

render(<App />, document.body)
