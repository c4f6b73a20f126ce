/** A field of a GraphQL operation with its arguments, variables filled in. */
export interface GraphqlField {
  /** The name that the answer uses. */
  readonly alias: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly selection: readonly GraphqlField[];
  readonly line: number;
  readonly column: number;
}

export interface GraphqlOperation {
  readonly kind: string;
  readonly fields: readonly GraphqlField[];
}

/** The document can't be read; the message is for the `errors` of the answer. */
export class GraphqlSyntaxError extends Error {}

interface Token {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

const tokenPattern =
  /"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*|\$?[A-Za-z_]\w*|-?\d+(?:\.\d+)?|\.\.\.|[!{}():[\]=@]/g;

/**
 * Reads a document with one operation: fields, aliases, arguments and variables, which is all that the stand-in's
 * mutations need. Fragments and directives are refused.
 * @throws GraphqlSyntaxError naming what isn't understood
 */
export function parseGraphql(
  document: string,
  variables: Readonly<Record<string, unknown>>,
): GraphqlOperation {
  return new Parser(tokensOf(document), variables).operation();
}

function tokensOf(document: string): Token[] {
  const rest = document.replace(tokenPattern, '').replace(/[\s,\uFEFF]/g, '');
  if (rest !== '') throw new GraphqlSyntaxError(`Parse error on ${JSON.stringify(rest.slice(0, 20))}`);
  return [...document.matchAll(tokenPattern)]
    .filter((match) => !match[0].startsWith('#'))
    .map((match) => {
      const before = document.slice(0, match.index).split('\n');
      return { text: match[0], line: before.length, column: before.at(-1)!.length + 1 };
    });
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #variables: Readonly<Record<string, unknown>>;
  #defaults: Record<string, unknown> = {};
  #next = 0;

  constructor(tokens: readonly Token[], variables: Readonly<Record<string, unknown>>) {
    this.#tokens = tokens;
    this.#variables = variables;
  }

  operation(): GraphqlOperation {
    const kind = this.#peek() === '{' ? 'query' : this.#name();
    if (this.#peek() !== '(' && this.#peek() !== '{') this.#name();
    if (this.#peek() === '(') this.#variableDefinitions();
    const fields = this.#selection();
    if (this.#next < this.#tokens.length) throw this.#unexpected();
    return { kind, fields };
  }

  /** Types are GitHub's business; only defaults and missing required values matter. */
  #variableDefinitions(): void {
    this.#expect('(');
    while (this.#peek() !== ')') {
      const name = this.#take().text.slice(1);
      this.#expect(':');
      const isRequired = this.#type();
      if (this.#peek() === '=') {
        this.#expect('=');
        this.#defaults[name] = this.#value();
      } else if (isRequired && (this.#variables[name] ?? null) === null) {
        throw new GraphqlSyntaxError(`Variable $${name} of a required type was provided invalid value`);
      }
    }
    this.#expect(')');
  }

  #type(): boolean {
    if (this.#peek() === '[') {
      this.#expect('[');
      this.#type();
      this.#expect(']');
    } else this.#name();
    if (this.#peek() !== '!') return false;
    this.#expect('!');
    return true;
  }

  #selection(): GraphqlField[] {
    const fields: GraphqlField[] = [];
    this.#expect('{');
    while (this.#peek() !== '}') fields.push(this.#field());
    this.#expect('}');
    return fields;
  }

  #field(): GraphqlField {
    const { line, column } = this.#tokens[this.#next] ?? { line: 1, column: 1 };
    const first = this.#name();
    let name = first;
    if (this.#peek() === ':') {
      this.#expect(':');
      name = this.#name();
    }
    const parameters = this.#peek() === '(' ? this.#pairs('(', ')') : {};
    const selection = this.#peek() === '{' ? this.#selection() : [];
    return { alias: first, name, arguments: parameters, selection, line, column };
  }

  #pairs(open: string, close: string): Record<string, unknown> {
    const pairs: Record<string, unknown> = {};
    this.#expect(open);
    while (this.#peek() !== close) {
      const name = this.#name();
      this.#expect(':');
      pairs[name] = this.#value();
    }
    this.#expect(close);
    return pairs;
  }

  #value(): unknown {
    if (this.#peek() === '{') return this.#pairs('{', '}');
    if (this.#peek() === '[') return this.#list();
    const { text } = this.#take();
    if (text.startsWith('$')) return this.#variables[text.slice(1)] ?? this.#defaults[text.slice(1)] ?? null;
    if (text.startsWith('"""')) return text.slice(3, -3);
    if (text.startsWith('"')) return JSON.parse(text);
    if (/^-?\d/.test(text)) return Number(text);
    if (text === 'true' || text === 'false') return text === 'true';
    return text === 'null' ? null : text;
  }

  #list(): unknown[] {
    const values: unknown[] = [];
    this.#expect('[');
    while (this.#peek() !== ']') values.push(this.#value());
    this.#expect(']');
    return values;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next]?.text;
  }

  #take(): Token {
    const token = this.#tokens[this.#next];
    if (token === undefined) throw this.#unexpected();
    this.#next += 1;
    return token;
  }

  #name(): string {
    if (!/^[A-Za-z_]/.test(this.#peek() ?? '')) throw this.#unexpected();
    return this.#take().text;
  }

  #expect(text: string): void {
    if (this.#peek() !== text) throw this.#unexpected();
    this.#next += 1;
  }

  #unexpected(): GraphqlSyntaxError {
    const token = this.#tokens[this.#next];
    if (token === undefined) return new GraphqlSyntaxError('Unexpected end of document');
    return new GraphqlSyntaxError(
      `Parse error on ${JSON.stringify(token.text)} at [${token.line}, ${token.column}]`,
    );
  }
}
