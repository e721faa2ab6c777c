import { MongoError } from 'mongodb';
import { isEngramError } from '../../../kernel/errors.ts';
import { createWorkGroups } from '../../../platform/async/work-groups.ts';
import type { WriteResult } from '../../ports/document-store.ts';
import type { Step } from './apply-writes.ts';

/** Bounds of one group: its transaction blocks all others that take numbers. */
const MAX_COMMITS = 50;
const MAX_STEPS = 1_000;

type CommitSteps = (steps: readonly Step[]) => Promise<readonly WriteResult[]>;

/**
 * Commits that take numbers have to go one after the other: those that wait go together in one transaction, where all have
 * the same scope or only insert. When the server is away all learn it at once.
 */
export function createNumberedGroups(commitTogether: CommitSteps): CommitSteps {
  return createWorkGroups<readonly Step[], readonly WriteResult[]>({
    async together(group) {
      const results = (await commitTogether(group.flat())).values();
      return group.map((steps) => [...results.take(steps.length)]);
    },
    concernsAll: (error) => error instanceof MongoError || (isEngramError(error) && error.retryable),
    goTogether: (first, next) => (onlyInserts(first) && onlyInserts(next)) || scopeKey(first) === scopeKey(next),
    maxCount: MAX_COMMITS,
    maxSize: MAX_STEPS,
    sizeOf: (steps) => steps.length,
  });
}

function onlyInserts(steps: readonly Step[]): boolean {
  return steps.every(({ write }) => write.kind === 'insert');
}

/** All steps of one commit have the same. */
function scopeKey([step]: readonly Step[]): string {
  return JSON.stringify(step?.scope, ['tenant', 'dataset']);
}
