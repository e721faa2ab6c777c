import { hash } from 'node:crypto';
import { compareRuns, hasError, type SkillRun } from '../../common/domain/skill.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import {
  type Collection,
  type Condition,
  type DocumentStore,
  insert,
  removeWhere,
  replace,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type RunDocument = SkillRun & JsonObject & { readonly hasError: boolean };

export const skillRunsCollection: Collection<RunDocument> = {
  name: 'skill_runs',
  level: 'dataset',
  indexes: [
    { fields: ['skill', 'startedAtMs', 'recordedAt'] },
    { fields: ['skill', 'hasError', 'startedAtMs', 'recordedAt'] },
    { fields: ['skill', 'successScore'] },
  ],
};

/** How skills did. Ingest writes them. */
export interface SkillRuns {
  /** A run that is sent again replaces itself. `DuplicateKeyError` or `VersionConflictError` in the commit on a race. */
  recordWrite(scope: DatasetScope, run: SkillRun): Promise<Write>;
  /** Newest first; exactly the newest `limit` of those with an error or a score below the threshold. */
  failing(
    scope: DatasetScope,
    skill: string,
    options: { readonly threshold: number; readonly limit: number },
  ): Promise<readonly SkillRun[]>;
  count(scope: DatasetScope, skill: string): Promise<number>;
  removeOfSkillWrite(skill: string): Write;
}

export function createSkillRuns(store: DocumentStore): SkillRuns {
  const collection = skillRunsCollection;
  const newest = async (
    scope: DatasetScope,
    where: Readonly<Record<string, string | boolean | Condition>>,
    limit: number,
  ) => {
    const sort = [
      { field: 'startedAtMs', descending: true },
      { field: 'recordedAt', descending: true },
    ] as const;
    const { items } = await store.find(scope, collection, { where, sort, limit });
    return items.map(({ value }): SkillRun => runOf(value));
  };
  return {
    async recordWrite(scope, run) {
      const id = documentId(run);
      const stored = await store.get(scope, collection, id);
      const document = { ...run, hasError: hasError(run) };
      return stored === null
        ? insert(collection, id, document as RunDocument)
        : replace(collection, id, document as RunDocument, stored.version);
    },
    async failing(scope, skill, { threshold, limit }) {
      const [erroneous, low] = await Promise.all([
        newest(scope, { skill, hasError: true }, limit),
        newest(scope, { skill, hasError: false, successScore: { lessThan: threshold } }, limit),
      ]);
      return [...erroneous, ...low].toSorted(compareRuns).slice(0, limit);
    },
    count: (scope, skill) => store.count(scope, collection, { skill }),
    removeOfSkillWrite: (skill) => removeWhere(collection, { skill }),
  };
}

/** Callers choose the ids of runs: they may be as long as they like. */
function documentId({ skill, runId }: SkillRun): string {
  return `${skill}/${hash('sha256', runId)}`;
}

function runOf({ hasError: _, ...run }: RunDocument): SkillRun {
  return run as SkillRun;
}
