import type { DatabaseSync } from 'node:sqlite';
import { applyWrite } from './apply-writes.ts';
import { encodeError } from './encoded-errors.ts';
import { sqliteCode } from './sqlite-errors.ts';
import type { StatementCache } from './statement-cache.ts';
import type { Layouts } from './table-layout.ts';
import type { CommitOutcome, EncodedResult, EncodedWrite } from './write-protocol.ts';

export interface CommitContext {
  readonly database: DatabaseSync;
  readonly statements: StatementCache;
  readonly layouts: Layouts;
  readonly file: string;
}

type Commit = readonly EncodedWrite[];

/**
 * Runs commits that arrived together in one transaction, each under a savepoint of its own: the price of the
 * transaction is paid once, and a commit that fails takes no other with it. When the file itself fails (full disk,
 * damage) SQLite may have rolled everything back, so each is then tried alone.
 */
export function runCommits(context: CommitContext, commits: readonly Commit[]): readonly CommitOutcome[] {
  if (commits.length > 1) {
    const outcomes = tryTogether(context, commits);
    if (outcomes !== null) return outcomes;
  }
  return commits.map((commit) => runAlone(context, commit));
}

function tryTogether(context: CommitContext, commits: readonly Commit[]): readonly CommitOutcome[] | null {
  const { statements } = context;
  try {
    statements.run('BEGIN IMMEDIATE', []);
    const outcomes = commits.map((commit) => runUnderSavepoint(context, commit));
    statements.run('COMMIT', []);
    return outcomes;
  } catch {
    rollBack(context);
    return null; // the error shows itself again when the commits run alone
  }
}

function runUnderSavepoint(context: CommitContext, commit: Commit): CommitOutcome {
  const { statements } = context;
  statements.run('SAVEPOINT one', []);
  try {
    const results = applyAll(context, commit);
    statements.run('RELEASE one', []);
    return { results };
  } catch (error) {
    if (isFileFailure(error)) throw error;
    statements.run('ROLLBACK TO one', []);
    statements.run('RELEASE one', []);
    return { error: encodeError(error, context.file) };
  }
}

function runAlone(context: CommitContext, commit: Commit): CommitOutcome {
  const { statements } = context;
  try {
    statements.run('BEGIN IMMEDIATE', []);
    const results = applyAll(context, commit);
    statements.run('COMMIT', []);
    return { results };
  } catch (error) {
    rollBack(context);
    return { error: encodeError(error, context.file) };
  }
}

function applyAll({ statements, layouts }: CommitContext, commit: Commit): readonly EncodedResult[] {
  return commit.map((write) => applyWrite(statements, layouts.of(write.collection), write));
}

function rollBack({ database, statements }: CommitContext): void {
  if (database.isTransaction) statements.run('ROLLBACK', []);
}

/** Anything but a broken constraint (19) or a fault of ours. */
function isFileFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && code !== 19;
}
