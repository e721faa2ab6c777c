import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { call, page } from './api.ts';

export interface Me {
  readonly id: string;
  readonly email: string;
  readonly is_superuser: boolean;
  readonly tenant_id: string | null;
}

export interface Dataset {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly ownerId: string;
}

export interface Item {
  readonly id: string;
  readonly name: string;
  readonly label: string | null;
  readonly createdAt: string;
  readonly dataSize: number;
  readonly displayName?: string;
  readonly excerpt?: string;
  readonly failure?: { readonly message: string; readonly errorClass: string; readonly isSetAside: boolean };
  readonly externalMetadata: Readonly<Record<string, unknown>>;
}

export interface Progress {
  readonly status: string;
  readonly progress: {
    readonly completed_items: number;
    readonly total_items: number;
    readonly current_stage: string | null;
  } | null;
  readonly chunks?: { readonly completed: number; readonly total: number };
  readonly error?: string;
}

export interface Run {
  readonly id: string;
  readonly pipeline_run_id: string;
  readonly pipeline_name: string | null;
  readonly operation_name: string;
  readonly status: string;
  readonly dataset_id: string | null;
  readonly dataset_name: string | null;
  readonly owner_email: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly origin: string | null;
  readonly outcome: string | null;
  readonly error_message: string | null;
  readonly tokens_in: number | null;
  readonly tokens_out: number | null;
}

export type Permission = 'read' | 'write' | 'delete' | 'share';

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: () => call<Me>('/users/me'), staleTime: 60_000 });
export const datasetsQuery = queryOptions({ queryKey: ['datasets'], queryFn: () => call<Dataset[]>('/datasets') });

export function itemsQuery(dataset: string, offset: number, limit: number) {
  return queryOptions({
    queryKey: ['items', dataset, offset, limit],
    queryFn: () => page<Item>(`/datasets/${dataset}/data`, { offset, limit, excerpts: true }),
  });
}

export const isRunning = (progress: Progress | undefined): boolean =>
  progress !== undefined && /(STARTED|INITIATED)$/.test(progress.status);

/** The newest run of each dataset, read again each second while one goes on. */
export const progressQuery = queryOptions({
  queryKey: ['progress'],
  queryFn: () => call<Record<string, Progress>>('/datasets/status/progress'),
  refetchInterval: ({ state }) => (Object.values(state.data ?? {}).some(isRunning) ? 1000 : 15_000),
});

/** Data that a run changes. */
export function afterRun(client: QueryClient): void {
  for (const key of ['items', 'counts', 'summary', 'runs', 'graph', 'progress', 'datasets']) {
    void client.invalidateQueries({ queryKey: [key] });
  }
}

export function useMe(): Me | null {
  return useQuery(meQuery).data ?? null;
}

/** Ids of the datasets on which the person has a permission. */
export function usePermitted(permission: Permission): ReadonlySet<string> {
  const me = useMe();
  const { data } = useQuery({
    queryKey: ['permitted', permission, me?.id],
    queryFn: () =>
      call<Dataset[]>(`/permissions/principals/${me?.id}/datasets`, { query: { permission_name: permission } }),
    enabled: me !== null,
  });
  return new Set((data ?? []).map(({ id }) => id));
}
