import type { DataItemId } from '../../common/kernel/brand.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import {
  type Statements,
  type StoredStatement,
  statementsCollection,
} from '../../common/records/cognify/statements.ts';
import type { Supersessions } from '../../common/records/cognify/supersessions.ts';
import type { Repetitions } from '../../common/records/ingest/repetitions.ts';
import { type DocumentWriter, update } from '../../common/storage/ports/document-store.ts';
import { judge } from '../../common/text/statements/judge.ts';

export interface JudgeDependencies {
  readonly store: DocumentWriter;
  readonly statements: Statements;
  readonly supersessions: Supersessions;
  readonly repetitions: Repetitions;
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/** Keys compared in one commit. */
const KEYS_PER_COMMIT = 20;
const ATTEMPTS = 5;

/**
 * Compares new statements with the others about the same subjects: newer statements supersede older ones, which become valid
 * again when the newer ones are gone. The cost depends on the new statements only. Idempotent: the next call for the dataset
 * finishes what a killed process left. Resolves to the number of statements compared.
 */
export async function judgeStatements(dependencies: JudgeDependencies, scope: DatasetScope): Promise<number> {
  const { statements, store, repetitions } = dependencies;
  let compared = 0;
  for await (const page of pagesOf((after) => statements.unjudged(scope, after))) {
    const open = await visibleOf(dependencies, scope, page);
    await judgeKeys(dependencies, scope, open);
    compared += open.length;
  }
  const repeated = await repetitions.unsettled(scope);
  if (repeated.length === 0) return compared;
  const items = repeated.map(({ item }) => item);
  const again = await visibleOf(dependencies, scope, await statements.ofItems(scope, items));
  await judgeKeys(dependencies, scope, again);
  await store.commit(
    scope,
    repeated.map((one) => repetitions.settledWrite(one)),
  );
  return compared + again.length;
}

/** Calls `judgeStatements` and logs an error instead of throwing it; the next call finishes the work. */
export async function tryJudgeStatements(
  dependencies: JudgeDependencies & { readonly logger: Logger },
  scope: DatasetScope,
): Promise<void> {
  try {
    await judgeStatements(dependencies, scope);
  } catch (error) {
    dependencies.logger.warn('cognify.statements.judge_failed', { datasetId: scope.dataset, error });
  }
}

async function judgeKeys(
  dependencies: JudgeDependencies,
  scope: DatasetScope,
  open: readonly StoredStatement[],
): Promise<void> {
  const byKey = [...Map.groupBy(open, ({ key }) => key)];
  for (const slice of slices(byKey, KEYS_PER_COMMIT)) {
    const own = slice.flatMap(([, stated]) => stated);
    const keys = slice.map(([key]) => key);
    await retryOnConflict(() => judgeSlice(dependencies, scope, { keys, own }), { attempts: ATTEMPTS });
  }
}

async function judgeSlice(
  { store, statements, supersessions, repetitions, ledger, clock }: JudgeDependencies,
  scope: DatasetScope,
  { keys, own }: { readonly keys: readonly string[]; readonly own: readonly StoredStatement[] },
): Promise<void> {
  const rows = new Map([...(await statements.ofKeys(scope, keys)), ...own].map((row) => [rowOf(row), row]));
  const all = await visibleOf({ ledger }, scope, [...rows.values()]);
  const repeated = await repetitions.of(
    scope,
    all.map(({ item }) => item),
  );
  // A repeated statement is as new as its repetition.
  const timed = all.map((one): StoredStatement => {
    const lastAt = one.isDated ? undefined : repeated.get(one.item)?.lastAt;
    return lastAt === undefined || lastAt <= one.at ? one : { ...one, at: lastAt };
  });
  const judgements = [...Map.groupBy(timed, ({ key }) => key).values()].flatMap((group) => judge(group));
  const { writes, changed } = await supersessions.settleWrites(scope, all, judgements, clock.now().toISOString());
  // The commit fails when one of them was forgotten meanwhile: nothing may be written about it any more.
  const present = new Set(changed.flatMap(({ older, newer }) => [rowOf(older), rowOf(newer)]));
  const set = { judged: true };
  const touched = [...present].map((row) => update(statementsCollection, row, { set, required: true }));
  const rest = own.filter((one) => !present.has(rowOf(one)));
  const done = [...writes, ...touched, ...statements.judgedWrites(rest)];
  if (done.length > 0) await store.commit(scope, done);
}

function rowOf({ id, generation }: StoredStatement): string {
  return `${id}/${generation}`;
}

async function visibleOf(
  { ledger }: Pick<JudgeDependencies, 'ledger'>,
  scope: DatasetScope,
  statements: readonly StoredStatement[],
): Promise<readonly StoredStatement[]> {
  if (statements.length === 0) return [];
  const items = [...new Set(statements.map(({ item }) => item))].map((item): DataItemId => dataItemId(item));
  const committed = await ledger.committed(scope, items);
  return statements.filter(({ item, generation }) => committed.get(dataItemId(item)) === generation);
}
