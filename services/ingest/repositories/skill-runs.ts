import { compareRuns, hasError, type SkillRun } from '../../common/domain/skill.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { put } from '../../common/records/base/repository.ts';
import {
  type Condition,
  type DocumentStore,
  removeWhere,
  type Write,
} from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type RunDocument = SkillRun & JsonObject & { readonly hasError: boolean };

export const skillRunsCollection: OwnedCollection<RunDocument> = {
  name: 'skill_runs',
  level: 'dataset',
  owner: 'ingest',
  belongsTo: { dataset: 'scope' },
  indexes: [
    { fields: ['skill', 'startedAtMs', 'recordedAt'] },
    { fields: ['skill', 'hasError', 'startedAtMs', 'recordedAt'] },
    { fields: ['skill', 'successScore'] },
  ],
};

/** Results of skills in use. */
export function createSkillRuns(store: DocumentStore) {
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
    /** A run that is sent again replaces itself. `DuplicateKeyError` or `VersionConflictError` in the commit on a race. */
    async recordWrite(scope: DatasetScope, run: SkillRun): Promise<Write> {
      const id = documentId(run);
      const stored = await store.get(scope, collection, id);
      const document = { ...run, hasError: hasError(run) };
      return put(collection, id, document as RunDocument, stored);
    },
    /** Newest first; exactly the newest `limit` of those with an error or a score below the threshold. */
    async failing(
      scope: DatasetScope,
      skill: string,
      { threshold, limit }: { readonly threshold: number; readonly limit: number },
    ): Promise<readonly SkillRun[]> {
      const [erroneous, low] = await Promise.all([
        newest(scope, { skill, hasError: true }, limit),
        newest(scope, { skill, hasError: false, successScore: { lessThan: threshold } }, limit),
      ]);
      return [...erroneous, ...low].toSorted(compareRuns).slice(0, limit);
    },
    count: (scope: DatasetScope, skill: string) => store.count(scope, collection, { skill }),
    removeOfSkillWrite: (skill: string) => removeWhere(collection, { skill }),
  };
}

/** Callers choose the ids of runs: they may be as long as they like. */
function documentId({ skill, runId }: SkillRun): string {
  return `${skill}/${sha256(runId)}`;
}

function runOf({ hasError: _, ...run }: RunDocument): SkillRun {
  return run as SkillRun;
}
