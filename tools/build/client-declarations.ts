import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Only in memory. */
const FOLDER = `${ROOT}declarations/`

/**
 * The type declarations of the client as one file that imports nothing. It contains what the exports refer to. Of the
 * types of the contract, which are three times its size, these are single members, in place of the references to them.
 *
 * @throws Error if two declarations have the same name
 */
export function declareClient(): string {
  const program = loadDeclarations(emitDeclarations())
  const bundle = new Bundle(program.getTypeChecker())
  const client = program.getSourceFile(`${FOLDER}client/client.d.ts`)
  if (client) bundle.addExports(client)
  return print(bundle.toText())
}

/** Declares each module of the client. Returns the declarations by their paths. */
function emitDeclarations(): Map<string, string> {
  const file = `${ROOT}tools/build/tsconfig.json`
  const { config } = ts.readConfigFile(file, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(file), {}, file)
  const own = { outDir: FOLDER, emitDeclarationOnly: true, stripInternal: true }
  const program = ts.createProgram([`${ROOT}client/client.ts`], { ...options, ...own })
  const declarations = new Map<string, string>()
  program.emit(undefined, (path, text) => declarations.set(path, text))
  return declarations
}

/** Without the types of the platform, which the bundle refers to by their names. */
function loadDeclarations(declarations: ReadonlyMap<string, string>): ts.Program {
  const options = { module: ts.ModuleKind.NodeNext, noLib: true, types: [] }
  const host = ts.createCompilerHost(options)
  return ts.createProgram([...declarations.keys()], options, {
    ...host,
    directoryExists: () => true,
    fileExists: (path) => declarations.has(path),
    getSourceFile: (path, version) =>
      ts.createSourceFile(path, declarations.get(path) ?? '', version),
  })
}

class Bundle {
  readonly #checker: ts.TypeChecker
  readonly #symbols = new Map<string, ts.Symbol>()
  readonly #statements: string[] = []
  readonly #exports: string[] = []

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker
  }

  /** Adds the exports of a module and all that they refer to. */
  addExports(module: ts.SourceFile): void {
    const symbol = this.#checker.getSymbolAtLocation(module)
    for (const each of symbol ? this.#checker.getExportsOfModule(symbol) : []) {
      this.#add(each)
      const isType = each.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)
      this.#exports.push(isType ? `type ${each.name}` : each.name)
    }
  }

  toText(): string {
    return `${this.#statements.join('\n')}\nexport { ${this.#exports.join(', ')} };`
  }

  /** Adds the declarations of a symbol, unless it is not that of a statement, such as a type parameter. */
  #add(symbol: ts.Symbol): void {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0
    const target = isAlias ? this.#checker.getAliasedSymbol(symbol) : symbol
    const statements = target.declarations?.map(statementOf).filter((each) => each !== undefined)
    const earlier = this.#symbols.get(target.name)
    if (!statements?.length || earlier === target) return
    if (earlier) throw new Error(`two declarations have the name ${target.name}`)
    this.#symbols.set(target.name, target)
    for (const statement of statements) this.#statements.push(this.#render(statement))
  }

  /** The text of a node, with its comments. Adds what it refers to. */
  #render(node: ts.Node): string {
    const { text } = node.getSourceFile()
    let rendered = ''
    let start = node.getFullStart()
    const visit = (child: ts.Node): void => {
      const replacement = this.#replace(child)
      if (replacement === undefined) {
        ts.forEachChild(child, visit)
      } else {
        rendered += text.slice(start, child.getStart()) + replacement
        start = child.end
      }
    }
    ts.forEachChild(node, visit)
    return rendered + text.slice(start, node.end)
  }

  /** What to write instead of a node. Undefined if it stays, perhaps with other children. */
  #replace(node: ts.Node): string | undefined {
    if (node.kind === ts.SyntaxKind.ExportKeyword) return ''
    if (ts.isIndexedAccessTypeNode(node)) return this.#renderMember(node)
    if (ts.isTypeOperatorNode(node)) return this.#renderNames(node)
    if (ts.isIdentifier(node)) {
      const symbol = this.#checker.getSymbolAtLocation(node)
      if (symbol) this.#add(symbol)
    }
    return undefined
  }

  /** The type of a member of the contract's types. Undefined for other members. */
  #renderMember({ objectType, indexType }: ts.IndexedAccessTypeNode): string | undefined {
    if (!ts.isLiteralTypeNode(indexType) || !ts.isStringLiteral(indexType.literal)) return undefined
    const object = this.#checker.getTypeFromTypeNode(objectType)
    const member = object.getProperty(indexType.literal.text)?.valueDeclaration
    if (!member || !ts.isPropertySignature(member) || !member.type) return undefined
    if (!member.getSourceFile().fileName.endsWith('/api.gen.d.ts')) return undefined
    const type = this.#replace(member.type) ?? this.#render(member.type)
    if (member.questionToken) return `(${type} | undefined)`
    const hasOperator = ts.isUnionTypeNode(member.type) || ts.isIntersectionTypeNode(member.type)
    return hasOperator ? `(${type})` : type
  }

  /** The names that `keyof` stands for. Undefined for another operator, or if they depend on a type parameter. */
  #renderNames(node: ts.TypeOperatorNode): string | undefined {
    const type = this.#checker.getTypeFromTypeNode(node)
    const names = type.isUnion() ? type.types : []
    if (names.length === 0 || !names.every((each) => each.isStringLiteral())) return undefined
    return names.map(({ value }) => `'${value}'`).join(' | ')
  }
}

/** The top-level statement that a declaration is, or belongs to as a variable. */
function statementOf(declaration: ts.Node): ts.Statement | undefined {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
  return ts.isStatement(node) && ts.isSourceFile(node.parent) ? node : undefined
}

/** Indents a file again, by tabs, and drops what openapi-typescript adds to comments: together, that takes three kilobytes. */
function print(text: string): string {
  const file = ts.createSourceFile('client.d.ts', text, ts.ScriptTarget.Latest)
  return ts
    .createPrinter()
    .printFile(file)
    .replaceAll(/^( {4})+/gm, (indent) => '\t'.repeat(indent.length / 4))
    .replaceAll(
      /^\s*(?:\/\*\*|\*) (?:@enum|Format:|@example [^[]|@description discriminator).*\n/gm,
      '',
    )
    .replaceAll('@description ', '')
    .replaceAll(/^\s*\/\*\*\n\s*\*\/\n/gm, '')
    .replaceAll(/\/\*\*\n\s*\* (.*)\n\s*\*\//g, '/** $1 */')
}
