/**
 * A contract case in JSON, free of any language: some steps that set the stage, then the one that is checked.
 * `{{name}}` in any string is replaced by a saved value; `{{unique}}` is a fresh word per case, for names.
 */
export interface ContractCase {
  readonly name: string;
  readonly given?: readonly Step[];
  readonly request: RequestSpec;
  readonly expect: Expectation;
  /** Steps after the checked one; each is checked as well when it has `expect`. */
  readonly then?: readonly Step[];
  /** Why the reference answers differently and we are better on purpose; the case is then not held against it. */
  readonly bettering?: string;
}

export interface Step {
  readonly request: RequestSpec;
  /** Without it any 2xx is asked for. */
  readonly expect?: Expectation;
  /** Variable → path into the answer's body: `items.0.id`. */
  readonly save?: Readonly<Record<string, string>>;
  /** Repeats the step until the expectation holds. */
  readonly untilSeconds?: number;
}

export interface RequestSpec {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** `user` (default) sends the run's credential; `none` sends nothing. */
  readonly auth?: 'user' | 'none';
  readonly json?: unknown;
  /** Sent as it stands. */
  readonly raw?: string;
  readonly urlencoded?: Readonly<Record<string, string>>;
  readonly multipart?: readonly FormPart[];
}

export interface FormPart {
  readonly name: string;
  readonly value?: string;
  readonly file?: { readonly name: string; readonly text?: string; readonly base64?: string; readonly type?: string };
}

export interface Expectation {
  readonly status: number | readonly number[];
  readonly headers?: Readonly<Record<string, unknown>>;
  /** A matcher, see `match.ts`. Absent: the body is not looked at. */
  readonly body?: unknown;
}

export interface CaseFile {
  readonly area: string;
  readonly cases: readonly ContractCase[];
}
