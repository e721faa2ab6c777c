import { z } from 'zod';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { stringList } from '../../common/platform/http/schema.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { type Validation, validateDataset } from '../validate/validate-dataset.ts';

const DEFAULT_DATASET = 'main_dataset';
const answer = z
  .object({
    status: z.enum(['healthy', 'degraded', 'unhealthy']),
    summary: z.object({
      graph_nodes: z.int(),
      graph_edges: z.int(),
      node_type_distribution: z.record(z.string(), z.int()),
    }),
    issues: z.array(
      z
        .object({ severity: z.enum(['error', 'warning']), type: z.string(), detail: z.string() })
        .meta({ id: 'ValidationIssue' }),
    ),
  })
  .meta({ id: 'ValidationReport' });

const { routes, get } = routesOf<CognifyDependencies>({ tag: 'validate' });

/** Route that checks whether the stores of a dataset are consistent (search-recall.md §11). */
export const validateRoutes = routes(
  get('/api/v1/validate', 'validateDataset', {
    summary: 'Check the graph of a dataset against its indexes; of several datasets the first',
    permission: onDatasets('read'),
    query: z.object({ dataset: stringList().default([]) }),
    responses: {
      200: { description: 'Healthy or degraded', schema: answer },
      404: { description: 'The dataset is unknown or not readable' },
      503: { description: 'Unhealthy; the same body' },
    },
    async handle({ principal, query, context, signal }, dependencies) {
      const names = query.dataset.length === 0 ? [DEFAULT_DATASET] : query.dataset;
      const dataset = await firstReadable(dependencies.messenger, principal, names, context);
      const validation = await validated(dependencies, dataset, signal);
      return json(presentValidation(validation), validation.status === 'unhealthy' ? 503 : 200);
    },
  }),
);

async function firstReadable(
  messenger: Messenger,
  principal: Principal,
  names: readonly string[],
  context: CallContext,
): Promise<DatasetRef> {
  const wanted = { permission: 'read' as const, names: [...new Set(names)] };
  const resolved = await messenger
    .call('auth.ResolveDatasets', wanted, { ...context, principal })
    .catch((error: unknown) => {
      if (isEngramError(error) && (error.status === 403 || error.status === 404)) return { datasets: [] };
      throw error;
    });
  const found = resolved.datasets.find(({ name }) => name === names[0]) ?? resolved.datasets[0];
  if (found === undefined) throw engramError('DatasetNotFoundError', 'Dataset not found or not readable.');
  return found;
}

async function validated(dependencies: CognifyDependencies, dataset: DatasetRef, signal: AbortSignal) {
  try {
    return await validateDataset(dependencies, dataset, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isEngramError(error)) throw error;
    dependencies.logger.error('cognify.validation.failed', { dataset: dataset.id, error });
    const body = { status: 'error', reason: 'validation failed; see server logs.' };
    throw new HttpError(500, body, { cause: error });
  }
}

function presentValidation({ status, nodes, edges, nodesByType, issues }: Validation) {
  const summary = { graph_nodes: nodes, graph_edges: edges, node_type_distribution: Object.fromEntries(nodesByType) };
  return { status, summary, issues };
}
