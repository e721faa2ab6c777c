import { z } from 'zod';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { Page } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, optional, uuid } from '../../common/platform/http/schema.ts';
import type { SupersededSide, Supersession } from '../../common/records/cognify/supersessions.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { datasetWith } from '../items/target-dataset.ts';

const side = z
  .object({
    text: z.string(),
    value: z.string(),
    data_id: z.string(),
    chunk_id: z.string(),
    asserted_at: z.string(),
    valid_from: z.string(),
    support: z.number(),
  })
  .meta({ id: 'SupersededSide' });
const supersession = z
  .object({
    id: z.string(),
    subject: z.string(),
    predicate: z.string(),
    status: z.enum(['active', 'reverted']),
    explanation: z.string(),
    reason: z.enum(['newer_value', 'ended']),
    older: side,
    newer: side,
    detected_at: z.string(),
    reverted_at: z.string().nullable(),
    reverted_by: z.string().nullable(),
  })
  .meta({ id: 'Supersession' });

const { routes, get, post } = routesOf<IngestDependencies>({ tag: 'datasets' });

/** Ours: what newer statements have replaced, and how that is taken back. */
export const supersessionRoutes = routes(
  get('/api/v1/datasets/:datasetId/supersessions', 'listSupersessions', {
    summary: 'Statements that newer ones have replaced, newest first',
    permission: onDatasets('read'),
    params: z.object({ datasetId: uuid() }),
    query: z.object({ limit: lenientInteger({ min: 1, max: 1000 }).default(100), after: optional(z.string()) }),
    responses: {
      200: {
        description: 'One page, with the cursor of the next',
        schema: z.object({ supersessions: z.array(supersession), next: z.string().nullable() }),
      },
      400: { description: 'A cursor that is none' },
      403: { description: 'PermissionDeniedError' },
    },
    async handle({ principal, params, query, context }, dependencies) {
      const dataset = await datasetWith(dependencies, { principal, context }, params.datasetId, 'read');
      const page = { after: query.after ?? null, limit: query.limit };
      const { items, next } = await listSupersessions(dependencies, dataset, page);
      return json({ supersessions: items.map(presentSupersession), next });
    },
  }),
  post('/api/v1/datasets/:datasetId/supersessions/:supersessionId/revert', 'revertSupersession', {
    idempotent: true,
    summary: 'Let the older statement stand again',
    permission: onDatasets('write'),
    params: z.object({ datasetId: uuid(), supersessionId: uuid() }),
    responses: {
      200: { description: 'The supersession, reverted', schema: supersession },
      403: { description: 'PermissionDeniedError' },
      404: { description: 'DataNotFoundError' },
    },
    async handle({ principal, params, context }, dependencies) {
      const dataset = await datasetWith(dependencies, { principal, context }, params.datasetId, 'write');
      // The answer says both statements.
      if (dataset.reader !== undefined) await datasetWith(dependencies, { principal, context }, dataset.id, 'read');
      const reverting = { principal, dataset, id: params.supersessionId };
      return json(presentSupersession(await revertSupersession(dependencies, reverting)));
    },
  }),
);

function presentSupersession(supersession: Supersession) {
  const { id, subject, predicate, older, newer, reverted } = supersession;
  return {
    id,
    subject,
    predicate,
    status: reverted === null ? 'active' : 'reverted',
    explanation: explain(supersession),
    reason: supersession.reason,
    older: presentSide(older),
    newer: presentSide(newer),
    detected_at: supersession.detectedAt,
    reverted_at: reverted?.at ?? null,
    reverted_by: reverted?.by ?? null,
  };
}

function presentSide({ text, value, item, chunk, at, from, support }: SupersededSide) {
  return { text, value, data_id: item, chunk_id: chunk, asserted_at: at, valid_from: from, support };
}

function explain({ subject, predicate, older, newer, reason }: Supersession): string {
  const what = `${subject}, ${predicate.replaceAll('_', ' ')}`;
  const said = `"${older.value}" was said ${day(older.at)}`;
  if (reason === 'ended') return `${what}: ${said}; ${day(newer.at)} it was said that this is over.`;
  return `${what}: ${said}, "${newer.value}" later, ${day(newer.at)}. It has one value at a time.`;
}

function day(time: string): string {
  return `on ${time.slice(0, 10)}`;
}

/** Newest first; those of which one side is not in the memory (any more) are left out. */
async function listSupersessions(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  page: { readonly after: string | null; readonly limit: number },
): Promise<Page<Supersession>> {
  const scope = scopeOf(dataset);
  const found = await dependencies.supersessions.list(scope, page);
  return { items: await visibleAmong(dependencies, scope, found.items), next: found.next };
}

/** The older statement stands again, for good; repeating it changes nothing. `DataNotFoundError` for an unknown id. */
async function revertSupersession(
  dependencies: IngestDependencies,
  { principal, dataset, id }: { readonly principal: Principal; readonly dataset: DatasetRef; readonly id: string },
): Promise<Supersession> {
  const { supersessions, audit, clock } = dependencies;
  const scope = scopeOf(dataset);
  const stored = await supersessions.get(scope, id);
  const [supersession] = stored === null ? [] : await visibleAmong(dependencies, scope, [stored]);
  if (supersession === undefined) throw engramError('DataNotFoundError', `There is no supersession ${id}.`);
  if (supersession.reverted !== null) return supersession;
  const at = clock.now().toISOString();
  const entry = { tenant: dataset.tenant, action: 'supersession.reverted', actor: principal.id, subject: id };
  const write = supersessions.revertWrite(supersession, principal.id, at);
  const commit = audit.commit(scope, [write], [{ ...entry, details: { dataset: dataset.id } }]);
  if (await ignoreDuplicate(commit)) return { ...supersession, reverted: { by: principal.id, at } };
  return (await supersessions.get(scope, id)) ?? supersession;
}

async function visibleAmong({ ledger }: IngestDependencies, scope: DatasetScope, found: readonly Supersession[]) {
  const entries = await ledger.entries(scope, [
    ...new Set(found.flatMap(({ older, newer }) => [older.item, newer.item])),
  ]);
  const isShown = ({ item, generation }: Supersession['older']): boolean => {
    const entry = entries.get(item);
    return entry !== undefined && !entry.erased && entry.generation === generation;
  };
  return found.filter(({ older, newer }) => isShown(older) && isShown(newer));
}
