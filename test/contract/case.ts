/**
 * A contract case in JSON, free of any language: some steps that set the stage, then the one that is checked.
 * `{{name}}` in any string is replaced by a saved value (a string that is nothing else takes the value's own type);
 * `{{unique}}` is a fresh word per case, for names. `{{freshEmail}}` is the address of the case's own account,
 * `{{megabyte}}` one line of exactly 1 MiB.
 */
export interface ContractCase extends Step {
  readonly name: string;
  /** Fixtures of `fixtures.json`, made once per run; what they saved can be used here. For what is slow to make. */
  readonly uses?: readonly string[];
  readonly given?: readonly Step[];
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
  /** Variable → path into the answer's body: `items.0.id`; `""` is the body itself. */
  readonly save?: Readonly<Record<string, string>>;
  /** Repeats the step until the expectation holds. */
  readonly untilSeconds?: number;
}

export interface RequestSpec {
  /** `WEBSOCKET` connects and reads until the server closes: the status is the close code, the body `{reason, frames}`. */
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * `user` (default) sends the run's credential, `none` nothing. `other` is a second account of the run, `fresh` one that
   * is registered for this case alone.
   */
  readonly auth?: 'user' | 'none' | 'other' | 'fresh';
  readonly json?: unknown;
  /** Sent as it stands. */
  readonly raw?: string;
  readonly urlencoded?: Readonly<Record<string, string | readonly string[]>>;
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
  /** A matcher, see `match.ts`. JSON answers are parsed, others are text. Absent: the body is not looked at. */
  readonly body?: unknown;
}

/** The server's posture a case is about: `required` asks for credentials, `open` takes requests without any. */
export type Posture = 'required' | 'open';

export interface CaseFile {
  readonly area: string;
  /** Default `required`. */
  readonly posture?: Posture;
  readonly cases: readonly ContractCase[];
}

export interface Fixture {
  readonly uses?: readonly string[];
  readonly steps: readonly Step[];
}
