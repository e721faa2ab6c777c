import { idOfText } from '../../kernel/ids.ts';

/** The value of a statement, in a form that can be compared. */
export type StatementValue =
  /** A name, a status, a colour: lower-case words without articles. */
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** In the base unit of its dimension; `step`: how finely it is told, so that a rounded number is no other number. */
  | { readonly kind: 'quantity'; readonly amount: number; readonly unit: string; readonly step: number }
  /** ISO times; `until` is exclusive. */
  | { readonly kind: 'date'; readonly from: string; readonly until: string }
  /** Versions, addresses of mail and web, numbers of telephones: equal or not. */
  | { readonly kind: 'code'; readonly code: string }
  /** From the narrowest part to the widest: `['munich', 'bavaria']`. */
  | { readonly kind: 'place'; readonly parts: readonly string[] };

/**
 * A sentence that gives the value of a property with one value at a time, such as an employer or a price. Sentences that
 * deny, suppose, quote or describe the past are no statements.
 */
export interface Statement {
  /** Id made from item, passage and sentence: the same in every generation. */
  readonly id: string;
  /** Key of all statements with the same subject and predicate. */
  readonly key: string;
  /** As written. */
  readonly subject: string;
  readonly predicate: string;
  readonly value: StatementValue;
  /** As written. */
  readonly valueText: string;
  /** The sentence, verbatim. */
  readonly text: string;
  readonly item: string;
  readonly chunk: string;
  /** Position in the item: a later sentence may correct an earlier one. */
  readonly ordinal: number;
  /** When it was said, ISO. */
  readonly at: string;
  /** Start of its validity, ISO: the time after `since`, else `at`. */
  readonly from: string;
  /** Has its own date (`as of 2019`), and so stays true. */
  readonly isDated: boolean;
  /** States a change: `now`, `moved to`. */
  readonly isChange: boolean;
  /** States that the value ended (`no longer works at`), without a new one. */
  readonly isEnd: boolean;
}

export function statementId(statement: Pick<Statement, 'item' | 'chunk' | 'text'>): string {
  return idOfText(`statement:${statement.item}:${statement.chunk}:${statement.text}`);
}

/** Id of the supersession of a statement: a statement is replaced by at most one other at a time. */
export function supersessionId(olderStatement: string): string {
  return idOfText(`supersession:${olderStatement}`);
}

/** `subject` as resolved in its document. Case, blanks and apostrophes make no other subject. */
export function statementKey(subject: string, predicate: string): string {
  const name = subject.toLowerCase().replaceAll(/['’]/gu, '').replaceAll(/\s+/gu, ' ').replace(/^the /u, '').trim();
  return idOfText(`statement-key:${name}\n${predicate}`);
}
