import type { QaEntry, Session } from '../../common/domain/session.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { visible } from '../../common/records/cognify/ledger.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** Answers may be megabytes: pages begin small, and grow while what was read was small. */
const FIRST_PAGE = 10;
const GROWTH = 4;
const GREATEST_PAGE = 500;
const CHARACTERS_OF_PAGE = 8_000_000;
const EVERYTHING = { from: null, before: null };

/**
 * Removes the text of answers that were made from these items alone, in all sessions of the dataset: a deleted text
 * must not survive in answers. Their counts stay. To be called while the graph still has the items; repeating is
 * harmless. Returns the number of answers.
 */
export async function forgetAnswers(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  items: readonly DataItemId[],
): Promise<number> {
  const isDoomed = await doomedNodes(dependencies, scopeOf(dataset), new Set(items));
  const scope = { tenant: dataset.tenant };
  const viewer = { users: [], datasets: [dataset.id] };
  let forgotten = 0;
  for await (const sessions of dependencies.visibleSessions.pages(scope, viewer, EVERYTHING)) {
    for (const session of sessions) {
      for await (const answers of pagesOf(dependencies, session, scope)) {
        const doomed = await isDoomed(answers);
        if (doomed.length > 0) forgotten += await dependencies.sessionEntries.forget(scope, session, doomed);
      }
    }
  }
  return forgotten;
}

async function* pagesOf(
  { sessionEntries }: IngestDependencies,
  session: Session,
  scope: Parameters<typeof sessionEntries.qasAfter>[0],
): AsyncGenerator<readonly QaEntry[]> {
  let length = FIRST_PAGE;
  for (let after = session.expired.qas; ; ) {
    const page = await sessionEntries.qasAfter(scope, session, after, length);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (page.length < length || last === undefined) return;
    after = last.number;
    const mean = page.reduce((size, turn) => size + sizeOf(turn), 0) / page.length;
    const fitting = Math.floor(CHARACTERS_OF_PAGE / Math.max(1, mean));
    length = Math.max(1, Math.min(GREATEST_PAGE, GROWTH * length, fitting));
  }
}

function sizeOf({ question, context, answer }: QaEntry): number {
  return question.length + context.length + answer.length;
}

/** Returns the ids of the answers that used a node which comes from the items alone. */
async function doomedNodes(
  { graph, ledger }: IngestDependencies,
  scope: DatasetScope,
  items: ReadonlySet<string>,
): Promise<(answers: readonly QaEntry[]) => Promise<readonly string[]>> {
  const committed = await ledger.allCommitted(scope);
  return async (answers) => {
    const used = new Set(answers.flatMap(({ usedGraphElements }) => usedGraphElements?.nodeIds ?? []));
    if (used.size === 0) return [];
    const evidence = visible(await graph.nodes(scope, [...used]), committed);
    const byNode = Map.groupBy(evidence, ({ id }) => id);
    const doomed = new Set(
      [...byNode].filter(([, rows]) => rows.every(({ item }) => items.has(item))).map(([id]) => id),
    );
    return answers
      .filter(({ usedGraphElements }) => usedGraphElements?.nodeIds?.some((id) => doomed.has(id)))
      .map(({ id }) => id);
  };
}
