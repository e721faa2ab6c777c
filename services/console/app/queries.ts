import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { Answer, DataDTO, DatasetDTO, PipelineRunStatusWithProgress, UserRead } from '../../client/index.ts';
import { engram } from './api.ts';

export type Me = UserRead;
export type Dataset = DatasetDTO;
export type Item = DataDTO;
export type Progress = PipelineRunStatusWithProgress;
export type Run = Answer<'/api/v1/activity/pipeline-runs', 'get'>[number];
export type Permission = 'read' | 'write' | 'delete' | 'share';
export type Range = '24h' | '7d' | '30d' | 'all';

/** Choices of a `SegmentedControl`. */
export const RANGES = [
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: 'all', label: 'All' },
];

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => engram.get('/api/v1/users/me'),
  staleTime: 60_000,
});
export const datasetsQuery = queryOptions({ queryKey: ['datasets'], queryFn: () => engram.get('/api/v1/datasets') });

/** One page of the items of a dataset, and how many there are in all. */
export async function readItems(dataset: string, query: { readonly offset?: number; readonly limit: number }) {
  const path = { dataset_id: dataset };
  const response = await engram.send('get', '/api/v1/datasets/{dataset_id}/data', {
    path,
    query: { ...query, excerpts: true },
  });
  const rows = (await response.json()) as Item[];
  return { rows, total: Number(response.headers.get('x-total-count') ?? rows.length) };
}

export function itemsQuery(dataset: string, offset: number, limit: number) {
  return queryOptions({
    queryKey: ['items', dataset, offset, limit],
    queryFn: () => readItems(dataset, { offset, limit }),
  });
}

/** Beyond this the sizes of items are not added up, nor their failures listed. */
export const MOST_SUMMED = 1000;

/** The first items of a dataset without a page: for sums. */
export const sizesQuery = (dataset: string) =>
  queryOptions({
    queryKey: ['items', dataset, 'sizes'],
    queryFn: () => readItems(dataset, { limit: MOST_SUMMED }),
  });

export const isRunning = (progress: Progress | undefined): boolean =>
  progress !== undefined && /(STARTED|INITIATED)$/.test(progress.status);

/** The newest run of each dataset, read again each second while one goes on. */
export const progressQuery = queryOptions({
  queryKey: ['progress'],
  // Of one pipeline: then there is no level for pipelines.
  queryFn: async () => (await engram.get('/api/v1/datasets/status/progress')) as Record<string, Progress>,
  refetchInterval: ({ state }) => (Object.values(state.data ?? {}).some(isRunning) ? 1000 : 15_000),
});

/** The newest dataset that was built, else the newest; null: not known yet. */
export function useUsualDataset(datasets: readonly Dataset[] = []): Dataset | undefined | null {
  const progress = useQuery(progressQuery);
  if (progress.isPending) return null;
  return datasets.findLast(({ id }) => progress.data?.[id] !== undefined) ?? datasets.at(-1);
}

/** Data that a run changes. */
export function afterRun(client: QueryClient): void {
  for (const key of ['items', 'counts', 'summary', 'runs', 'graph', 'progress', 'datasets']) {
    void client.invalidateQueries({ queryKey: [key] });
  }
}

export function useMe(): Me | null {
  return useQuery(meQuery).data ?? null;
}

/** Capabilities of the person in the tenant beside using datasets; none in the personal space. */
export function useCapabilities(tenant: string | null): readonly string[] {
  const { data } = useQuery({
    queryKey: ['capabilities', tenant],
    queryFn: () =>
      engram.get('/api/v1/permissions/tenants/{tenant_id}/capabilities/me', { path: { tenant_id: tenant ?? '' } }),
    enabled: tenant !== null,
  });
  return data?.capabilities ?? [];
}

/** Ids of the datasets on which the person has a permission. */
export function usePermitted(permission: Permission): ReadonlySet<string> {
  const me = useMe();
  const { data } = useQuery({
    queryKey: ['permitted', permission, me?.id],
    queryFn: () =>
      engram.get('/api/v1/permissions/principals/{principal_id}/datasets', {
        path: { principal_id: me?.id ?? '' },
        query: { permission_name: permission },
      }),
    enabled: me !== null,
  });
  return new Set((data ?? []).map(({ id }) => id));
}

export const signInQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: () => engram.get('/api/v1/auth/oidc'),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Whether the API answers without credentials: then there is nothing to sign out of. */
export function useIsOpen(): boolean {
  return useQuery(signInQuery).data?.authentication_required === false;
}
